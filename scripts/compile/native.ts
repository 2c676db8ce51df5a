/** Builds single executables with `deno compile`, if its base runtime is available. */

export interface Target {
  /** Deno's name of the target. */
  readonly triple: string;
  /** Name in the download. */
  readonly short: string;
  readonly suffix: string;
}

/** All targets. Windows has the client and `start --runtime`, but no adoption. */
export const NATIVE_TARGETS: readonly Target[] = [
  { triple: "x86_64-unknown-linux-gnu", short: "linux-x64", suffix: "" },
  { triple: "aarch64-unknown-linux-gnu", short: "linux-arm64", suffix: "" },
  { triple: "x86_64-apple-darwin", short: "macos-x64", suffix: "" },
  { triple: "aarch64-apple-darwin", short: "macos-arm64", suffix: "" },
  { triple: "x86_64-pc-windows-msvc", short: "windows-x64", suffix: ".exe" },
];

/** The target of this machine. */
export const HOST: string = Deno.build.target;

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

/**
 * Builds one target from `bundled`, the program as a folder of JavaScript. Returns the reason if it
 * cannot be built here, otherwise undefined.
 */
export async function compileNative(
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
