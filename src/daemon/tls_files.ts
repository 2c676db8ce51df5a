/** Reads the files of `web.tls`. */

import { messageOf, ProcsupError } from "../model/errors.ts";
import type { WebSettings } from "../model/listen_address.ts";
import { shellWord } from "../model/shell_line.ts";
import { resolve } from "@std/path";
import { wayProblem } from "../platform/files/way.ts";

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
      const octal = ((mode ?? 0) & 0o777).toString(8).padStart(4, "0");
      throw refuse(
        `others may access it (mode ${octal})`,
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
