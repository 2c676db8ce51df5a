/**
 * Builds the portable form: a shell stub, followed by the running Deno and the bundled program,
 * compressed. The stub is stub.sh; its checksum covers everything after it.
 */

import { shellWord } from "../../src/model/shell_line.ts";
import { VERSION } from "../../src/protocol/version.ts";
import { bundle } from "./bundle.ts";

/** Compression of what follows the stub, and the command to decompress it. gzip is available everywhere. */
const COMPRESSIONS = {
  gzip: { pack: ["gzip", "-6", "-n", "-c"], unpack: "gzip -dc" },
  xz: { pack: ["xz", "-6", "-T2", "-c"], unpack: "xz -dc" },
} as const;

/** Builds the portable form for this machine. */
export async function buildPortable(
  root: string,
  path: string,
  compression: keyof typeof COMPRESSIONS,
): Promise<void> {
  const folder = Deno.makeTempDirSync({ prefix: "procsup-portable-" });
  try {
    await bundle(root, `${root}/scripts/compile/portable_entry.ts`, `${folder}/files`);
    Deno.copyFileSync(Deno.execPath(), `${folder}/files/deno`);
    Deno.chmodSync(`${folder}/files/deno`, 0o755);
    const files = await archive(folder, COMPRESSIONS[compression].pack);
    const { unpack } = COMPRESSIONS[compression];
    await join(`${folder}/payload`, path, { FILES: String(files), UNPACK: unpack });
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}

/** The parts of the stub that say what it is, and that unpack. */
const HEADING = /^#![^]*?(?=^case)/m;
const UNPACKING = /^fail\(\)[^]*?(?=^# A daemon without a PATH)/m;

/**
 * Builds the portable form as its stub unpacks it, for the running Deno, in an existing folder. Returns
 * the path of a stub that unpacks nothing.
 */
export async function buildUnpacked(root: string, folder: string): Promise<string> {
  await bundle(root, `${root}/scripts/compile/portable_entry.ts`, folder);
  Deno.symlinkSync(Deno.execPath(), `${folder}/deno`);
  const stub = stubTemplate()
    .replace(HEADING, "#!/bin/bash -p\n")
    .replace(UNPACKING, () => `dir=${shellWord(folder)}\n`);
  const path = `${folder}/procsup`;
  Deno.writeTextFileSync(path, stub, { mode: 0o755 });
  return path;
}

/**
 * Modification time of the files in seconds since 1970, and that of a marker that is newer than all of
 * them.
 */
const FILE_TIME = 0;
const MARK_TIME = 86_400;

/** Creates an archive that depends only on its input. Returns the number of files in it, without the marker. */
async function archive(folder: string, pack: readonly string[]): Promise<number> {
  const names = [...Deno.readDirSync(`${folder}/files`)].map(({ name }) => name).sort();
  for (const name of names) Deno.utimeSync(`${folder}/files/${name}`, FILE_TIME, FILE_TIME);
  Deno.writeTextFileSync(`${folder}/files/.mark`, "");
  Deno.utimeSync(`${folder}/files/.mark`, MARK_TIME, MARK_TIME);
  const plain = ["--owner=0", "--group=0", "--numeric-owner"];
  const gnu = new TextDecoder().decode(await run("tar", ["--version"], folder)).includes("GNU");
  await run(
    "tar",
    ["-cf", "../archive", ...(gnu ? plain : []), ".mark", ...names],
    `${folder}/files`,
  );
  const [program, ...args] = pack;
  using output = Deno.openSync(`${folder}/payload`, { write: true, createNew: true });
  const child = new Deno.Command(program!, {
    args,
    cwd: folder,
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  using input = Deno.openSync(`${folder}/archive`);
  const written = input.readable.pipeTo(child.stdin);
  await Promise.all([written, child.stdout.pipeTo(output.writable)]);
  if (!(await child.status).success) throw new Error(`${program} failed`);
  return names.length;
}

/** Writes the stub with its placeholders filled in, followed by the compressed archive. */
export async function join(
  payload: string,
  path: string,
  words: Readonly<Record<"FILES" | "UNPACK", string>>,
): Promise<void> {
  const content = await Deno.readFile(payload);
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", content)).toHex();
  const all: Record<string, string> = { ...words, VERSION, HASH: hash };
  const filled = stubTemplate().replace(/@([A-Z]+)@/g, (word, name) => all[name] ?? word);
  const stub = new TextEncoder().encode(withOffset(filled));
  const temporary = `${path}.new`;
  using file = Deno.openSync(temporary, { write: true, create: true, truncate: true });
  for (const part of [stub, content]) {
    for (let done = 0; done < part.length;) done += file.writeSync(part.subarray(done));
  }
  Deno.chmodSync(temporary, 0o755);
  // A running program keeps reading the file it was started from.
  Deno.renameSync(temporary, path);
}

function stubTemplate(): string {
  return Deno.readTextFileSync(new URL("stub.sh", import.meta.url));
}

/**
 * Fills in the offset for `tail -c +N`, which counts from 1. It is padded to the width of the
 * placeholder, so that its length does not change the offset.
 */
function withOffset(stub: string): string {
  const width = "@OFFSET@".length;
  const offset = new TextEncoder().encode(stub).length + 1;
  return stub.replace("@OFFSET@", String(offset).padEnd(width));
}

async function run(program: string, args: readonly string[], cwd: string): Promise<Uint8Array> {
  const { success, stdout, stderr } = await new Deno.Command(program, {
    args: [...args],
    cwd,
    env: { NO_COLOR: "1" },
  }).output();
  if (success) return stdout;
  throw new Error(`${program} ${args[0]} failed: ${new TextDecoder().decode(stderr)}`);
}
