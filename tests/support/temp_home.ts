/** A home directory that lives as long as a test. */

import { statfsSync } from "node:fs";

/** A directory, and its removal. */
export interface TempHome extends AsyncDisposable {
  readonly path: string;
}

/** Many systems have /tmp in memory, where the head of a log cannot be cut off. */
const TMPFS = 0x01021994;
export const TEMP_FOLDER = statfsSync("/tmp").type === TMPFS ? "/var/tmp" : "/tmp";

/**
 * A new empty directory of mode 0700, removed with all in it at the end of `await using`. Its path
 * is short, since a Unix socket's may not pass about 100 bytes.
 */
export function tempHome(folder = TEMP_FOLDER): TempHome {
  const path = Deno.makeTempDirSync({ dir: folder, prefix: "ps-" });
  Deno.chmodSync(path, 0o700);
  return {
    path,
    async [Symbol.asyncDispose]() {
      try {
        await Deno.remove(path, { recursive: true });
      } catch (error) {
        if (!(error instanceof Deno.errors.NotFound)) throw error;
      }
    },
  };
}
