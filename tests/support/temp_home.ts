/** A home directory for the duration of a test. */

import { statfsSync } from "node:fs";

/** A directory that is removed when disposed of. */
export interface TempHome extends AsyncDisposable {
  readonly path: string;
}

/** Many systems have /tmp on tmpfs, which cannot cut off the head of a log. */
const TMPFS = 0x01021994;
export const TEMP_FOLDER = statfsSync("/tmp").type === TMPFS ? "/var/tmp" : "/tmp";

/**
 * A new empty directory of mode 0700, removed with its content at the end of `await using`. Its
 * path is short, because the path of a Unix socket is limited to about 100 bytes.
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
