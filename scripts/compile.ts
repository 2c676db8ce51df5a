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
import { writeChecksums } from "./compile/checksums.ts";
import { compileNative, HOST, NATIVE_TARGETS, type Target } from "./compile/native.ts";
import { buildPortable } from "./compile/portable.ts";
import { writeSbom } from "./compile/sbom.ts";

const ROOT = import.meta.dirname!.replace(/\/scripts$/, "");
const DIST = `${ROOT}/dist`;

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

Deno.exit(await main());
