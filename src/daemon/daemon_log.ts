/** The daemon's own log: JSON lines, capped in size. */

import { getRotatingFileSink } from "@logtape/file";
import { configure, dispose, getLogger, jsonLinesFormatter } from "@logtape/logtape";

const MAX_BYTES = 5 * 1024 * 1024;
const FILES = 2;

/** Where the daemon says what it does. */
export interface DaemonLog extends AsyncDisposable {
  info(message: string): void;
  warn(message: string): void;
}

/** Opens the log file. */
export async function openDaemonLog(path: string): Promise<DaemonLog> {
  await configure({
    sinks: {
      file: getRotatingFileSink(path, {
        formatter: jsonLinesFormatter,
        maxSize: MAX_BYTES,
        maxFiles: FILES,
        bufferSize: 0,
      }),
    },
    loggers: [
      { category: "procsup", sinks: ["file"], lowestLevel: "info" },
      { category: ["logtape", "meta"], sinks: ["file"], lowestLevel: "warning" },
    ],
    reset: true,
  });
  const logger = getLogger("procsup");
  return {
    info: (message) => logger.info(literal(message)),
    warn: (message) => logger.warn(literal(message)),
    [Symbol.asyncDispose]: () => dispose(),
  };
}

/** The logger takes templates; what it gets from us is text. */
function literal(message: string): string {
  return message.replace(/[{}]/g, "$&$&");
}
