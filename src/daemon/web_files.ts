/**
 * The files of the web listener: its certificate, and what the next daemon needs, which is its settings
 * and the sessions of the dashboard.
 */

import type { OpenSession, Sessions } from "../auth/sessions.ts";
import { parseWeb } from "../model/config_schema.ts";
import { messageOf, ProcsupError } from "../model/errors.ts";
import type { WebSettings } from "../model/listen_address.ts";
import { shellWord } from "../model/shell_line.ts";
import { resolve } from "../npm/path.js";
import {
  readFileIfAny,
  removeFile,
  removeIfPossible,
  replaceFile,
} from "../platform/atomic_file.ts";
import { lstatIfAny } from "../platform/stat.ts";
import { readState, removeState, sealed, unsealed, writeState } from "../platform/state_file.ts";
import { wayProblem } from "../platform/way.ts";

/**
 * The settings in effect when the last daemon ended; undefined if the web listener was stopped or the
 * file is damaged.
 */
export function recallWeb(path: string, warn: (message: string) => void): WebSettings | undefined {
  // Without the file its backup copy must not start the listener.
  if (lstatIfAny(path) === undefined) removeState(path);
  const { value, problems } = readState(path, (value) => {
    const { listen } = value as Partial<WebSettings>;
    // Other keys have defaults, but a default address may not be what was set.
    if (typeof listen !== "string") throw new Error('"listen" is missing');
    return parseWeb(value);
  });
  for (const problem of problems) warn(problem);
  if (value === undefined && problems.length > 0) {
    warn("The web listener stays stopped; to start it: procsup web start");
  }
  return value;
}

export function rememberWeb(path: string, settings: WebSettings): void {
  writeState(path, settings, { durable: true });
}

/** Writes the open sessions, at each change, to a file that only the user can read. */
export function keepSessions(path: string, sessions: Sessions): void {
  const open = sessions.list();
  if (open.length > 0) replaceFile(path, `${sealed(open)}\n`);
  else removeFile(path);
}

/** Restores the sessions of the previous daemon. */
export function restoreSessions(path: string, sessions: Sessions): void {
  try {
    const text = readFileIfAny(path);
    if (text !== undefined) sessions.restore(unsealed(text) as OpenSession[]);
  } catch {
    // Damaged: users sign in again.
    removeIfPossible(path);
  }
}

const MAX_BYTES = 1024 * 1024;
/** Mode bits that are refused: write access by group and others; for the key also read access by others. */
const TOO_OPEN = { cert: 0o022, key: 0o027 } as const;
const HOLDS = { cert: /-----BEGIN CERTIFICATE-----/, key: /-----BEGIN [A-Z ]*PRIVATE KEY-----/ };

/** Reads both files. Throws `invalid_config` if others can change one, or if it is not PEM. */
export function readTls({ cert, key }: NonNullable<WebSettings["tls"]>) {
  return { cert: readPem("cert", cert), key: readPem("key", key) };
}

function readPem(what: "cert" | "key", path: string): string {
  const refuse = (why: string, hint?: string) =>
    new ProcsupError("invalid_config", `Cannot use web.tls.${what} "${path}": ${why}`, { hint });
  try {
    const { isFile, mode, uid, size } = Deno.statSync(path);
    if (!isFile) throw refuse("it is not a file");
    if (size > MAX_BYTES) throw refuse(`it is larger than ${MAX_BYTES} bytes`);
    if (uid !== 0 && uid !== Deno.uid()) throw refuse("it belongs to another user");
    const open = (mode ?? 0) & TOO_OPEN[what];
    if (open !== 0) {
      const told = ((mode ?? 0) & 0o777).toString(8).padStart(4, "0");
      throw refuse(
        `others may access it (mode ${told})`,
        `chmod ${what === "key" ? "600" : "644"} ${shellWord(path)}`,
      );
    }
    // Otherwise the owner of a folder could replace the file between the checks and the reading.
    const problem = Deno.uid() === 0 ? wayProblem(resolve(path)) : undefined;
    if (problem !== undefined) throw refuse(problem);
    const text = Deno.readTextFileSync(path);
    if (!HOLDS[what].test(text)) {
      throw refuse(`expected a ${what === "key" ? "private key" : "certificate"} in PEM`);
    }
    return text;
  } catch (error) {
    if (error instanceof ProcsupError) throw error;
    throw refuse(error instanceof Deno.errors.NotFound ? "no such file" : messageOf(error));
  }
}
