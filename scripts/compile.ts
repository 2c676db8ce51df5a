// deno-lint-ignore-file no-console
/**
 * Builds the executable: `deno task compile [--target TRIPLE…|--all] [--portable] [--xz]`.
 *
 * Uses `deno compile` if its base runtime is available (from Deno's download site, or DENORT_BIN);
 * otherwise, for this machine, the portable form under the same name. Writes dist/, SHA256SUMS and an
 * SBOM.
 */

import { parseArgs } from "node:util";
import { bundle } from "./compile/bundle.ts";
import { buildPortable } from "./compile/portable.ts";
import { writeSbom } from "./compile/sbom.ts";
import { createHash } from "node:crypto";

const ROOT = import.meta.dirname!.replace(/\/scripts$/, "");
const DIST = `${ROOT}/dist`;

interface Target {
  /** Deno's name of the target. */
  readonly triple: string;
  /** Name in the download. */
  readonly short: string;
  readonly suffix: string;
}

/** All targets. Windows has the client and `start --runtime`, but no adoption. */
const NATIVE_TARGETS: readonly Target[] = [
  { triple: "x86_64-unknown-linux-gnu", short: "linux-x64", suffix: "" },
  { triple: "aarch64-unknown-linux-gnu", short: "linux-arm64", suffix: "" },
  { triple: "x86_64-apple-darwin", short: "macos-x64", suffix: "" },
  { triple: "aarch64-apple-darwin", short: "macos-arm64", suffix: "" },
  { triple: "x86_64-pc-windows-msvc", short: "windows-x64", suffix: ".exe" },
];

/** The target of this machine. */
const HOST: string = Deno.build.target;

/**
 * Flags of `deno compile` for every target. Without deno.json, because its lazy dynamic imports would
 * exclude nearly everything from the executable.
 */
const FLAGS = [
  "-A",
  "--no-prompt",
  "--no-check",
  "--no-config",
  "--no-lock",
  "--v8-flags=--max-semi-space-size=1",
];

/** Time limit, longer than any download that will succeed. */
const PATIENCE_MS = 300_000;

function targetsOf(args: { all: boolean; target: readonly string[] }): readonly Target[] {
  if (args.all) return NATIVE_TARGETS;
  const wanted = args.target.length === 0 ? [HOST] : args.target;
  return wanted.map((name) => {
    const found = NATIVE_TARGETS.find((target) => target.triple === name || target.short === name);
    if (found !== undefined) return found;
    const known = NATIVE_TARGETS.map(({ triple }) => triple).join(", ");
    throw new Error(`Unknown target "${name}": expected one of ${known}`);
  });
}

function report(path: string, form: string, startedAt: number): void {
  const megabytes = (Deno.statSync(path).size / 1e6).toFixed(1);
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  console.log(`${path.replace(`${ROOT}/`, "")}  ${megabytes} MB  ${form}  (${seconds} s)`);
}

/** Builds one target. Returns whether it worked. */
async function build(
  target: Target,
  args: { portable: boolean; xz: boolean },
  bundled: string,
): Promise<boolean> {
  const startedAt = performance.now();
  const host = target.triple === HOST;
  const path = `${DIST}/${host ? "procsup" : `procsup-${target.short}`}${target.suffix}`;
  if (!args.portable) {
    const problem = await compileNative(bundled, target, path);
    if (problem === undefined) {
      report(path, "deno compile", startedAt);
      return true;
    }
    console.log(`No deno compile for ${target.triple}: ${problem}`);
  }
  if (!host) {
    console.log(
      `The portable form needs this machine's Deno, so there is none for ${target.triple}`,
    );
    return false;
  }
  await buildPortable(ROOT, path, args.xz ? "xz" : "gzip");
  report(path, "portable form", startedAt);
  return true;
}

async function main(): Promise<number> {
  const { values: args } = parseArgs({
    args: Deno.args,
    options: {
      all: { type: "boolean", default: false },
      portable: { type: "boolean", default: false },
      xz: { type: "boolean", default: false },
      target: { type: "string", multiple: true, default: [] },
    },
  });
  Deno.mkdirSync(DIST, { recursive: true });
  const bundled = Deno.makeTempDirSync({ prefix: "procsup-bundle-" });
  let failed = 0;
  try {
    if (!args.portable) await bundle(ROOT, `${ROOT}/main.ts`, bundled);
    for (const target of targetsOf(args)) if (!await build(target, args, bundled)) failed++;
  } finally {
    Deno.removeSync(bundled, { recursive: true });
  }
  await writeSbom(ROOT, `${DIST}/procsup.sbom.json`);
  writeChecksums(DIST);
  return failed > 0 ? 1 : 0;
}

/**
 * Builds one target from `bundled`, the program as a folder of JavaScript. Returns the reason if it
 * cannot be built here, otherwise undefined.
 */
async function compileNative(
  bundled: string,
  { triple }: Target,
  path: string,
): Promise<string | undefined> {
  // Deno does not overwrite files that it did not create.
  const fresh = path.replace(/(\.exe)?$/, ".compiled$1");
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["compile", ...FLAGS, "--target", triple, "--output", fresh, "main.js"],
    cwd: bundled,
    env: { NO_COLOR: "1" },
    signal: AbortSignal.timeout(PATIENCE_MS),
  }).output();
  if (!success) return reasonIn(new TextDecoder().decode(stderr));
  if (triple !== HOST || await isProcsup(fresh)) {
    Deno.renameSync(fresh, path);
    return undefined;
  }
  Deno.removeSync(fresh);
  return "the result is not procsup (is DENORT_BIN a denort?)";
}

/** Given a `deno` in place of a `denort`, `deno compile` produces a Deno rather than the program. */
async function isProcsup(path: string): Promise<boolean> {
  const { stdout } = await new Deno.Command(path, {
    args: ["version"],
    stdin: "null",
    signal: AbortSignal.timeout(30_000),
  }).output();
  return /^procsup \d/.test(new TextDecoder().decode(stdout));
}

function reasonIn(stderr: string): string {
  if (/lookup address|client error|download/i.test(stderr)) {
    return "its base runtime (denort) cannot be downloaded; set DENORT_BIN to its path";
  }
  const lines = stderr.split("\n").map((line) => line.trim()).filter((line) => line !== "");
  return lines.find((line) => line.startsWith("error")) ?? lines.at(-1) ?? "deno compile failed";
}

/** Writes SHA256SUMS for all executables and SBOMs in a folder, for `sha256sum -c`. */
function writeChecksums(folder: string): void {
  const names = [...Deno.readDirSync(folder)]
    .filter(({ name, isFile }) => isFile && name !== "SHA256SUMS" && !name.endsWith(".new"))
    .map(({ name }) => name).sort();
  const lines = names.map((name) => `${digest(`${folder}/${name}`)}  ${name}\n`);
  Deno.writeTextFileSync(`${folder}/SHA256SUMS`, lines.join(""));
}

function digest(path: string): string {
  return createHash("sha256").update(Deno.readFileSync(path)).digest("hex");
}

Deno.exit(await main());
