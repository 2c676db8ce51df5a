/** `deno compile`: one file for each system, where its base runtime can be had. */

/** One system to build for. */
export interface Target {
  /** What Deno calls it. */
  readonly triple: string;
  /** What the download is called. */
  readonly short: string;
  readonly suffix: string;
}

/** Every system there is an executable for. Windows: the client and `start --runtime`, no adoption. */
export const NATIVE_TARGETS: readonly Target[] = [
  { triple: "x86_64-unknown-linux-gnu", short: "linux-x64", suffix: "" },
  { triple: "aarch64-unknown-linux-gnu", short: "linux-arm64", suffix: "" },
  { triple: "x86_64-apple-darwin", short: "macos-x64", suffix: "" },
  { triple: "aarch64-apple-darwin", short: "macos-arm64", suffix: "" },
  { triple: "x86_64-pc-windows-msvc", short: "windows-x64", suffix: ".exe" },
];

/** The system that this runs on. */
export const HOST: string = Deno.build.target;

/**
 * What `deno compile` is given, whatever the target. Without deno.json: its lazy dynamic imports leave
 * out of the file all that is imported that way, which is nearly everything.
 */
const FLAGS = [
  "-A",
  "--no-prompt",
  "--no-check",
  "--no-config",
  "--no-lock",
  "--v8-flags=--max-semi-space-size=1",
];

/** Longer than any download takes that will still come. */
const PATIENCE_MS = 300_000;

/**
 * Builds one target from `bundled`, the program as a folder of JavaScript; a sentence when it cannot
 * be built here, undefined when it was.
 */
export async function compileNative(
  bundled: string,
  { triple }: Target,
  path: string,
): Promise<string | undefined> {
  // Deno does not write over what is not its own.
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
  return "what it made is not procsup (is DENORT_BIN a denort?)";
}

/** Given a `deno` for a `denort`, the file that comes out is a Deno, not the program. */
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
    return "its base runtime (denort) cannot be downloaded from here; DENORT_BIN names one";
  }
  const lines = stderr.split("\n").map((line) => line.trim()).filter((line) => line !== "");
  return lines.find((line) => line.startsWith("error")) ?? lines.at(-1) ?? "deno compile failed";
}
