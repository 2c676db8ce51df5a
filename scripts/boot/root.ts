/** The root file system of a Debian or Ubuntu machine: created once with debootstrap, copied for each run. */

import { lstatIfAny } from "../../src/platform/files/stat.ts";
/** Packages in addition to the minimal system. */
const PACKAGES = ["systemd", "systemd-sysv", "dbus", "libpam-systemd"];

/** The release of this machine, which its package sources contain for certain. */
export function ownSuite(): string {
  const text = Deno.readTextFileSync("/etc/os-release");
  return /^VERSION_CODENAME=(.+)$/m.exec(text)?.[1] ?? "stable";
}

/** Creates the root file system of a release unless it exists. Returns its path. */
export async function cachedRoot(cache: string, suite: string): Promise<string> {
  const path = `${cache}/${suite}`;
  if (lstatIfAny(`${path}/sbin/init`) !== undefined) return path;
  const fresh = `${path}.new`;
  await run("rm", "-rf", fresh);
  Deno.mkdirSync(cache, { recursive: true });
  const include = `--include=${PACKAGES.join(",")}`;
  await run("debootstrap", "--variant=minbase", include, suite, fresh, ...await mirror(suite));
  // Copies must not be treated as a first boot.
  Deno.writeTextFileSync(`${fresh}/etc/machine-id`, "");
  Deno.renameSync(fresh, path);
  return path;
}

/** Creates a copy that a run may change. */
export async function copyRoot(root: string, path: string): Promise<void> {
  await run("cp", "-a", "--reflink=auto", root, path);
}

/**
 * The package source of this machine; empty if it is a list of mirrors, so that debootstrap uses its
 * default.
 */
async function mirror(suite: string): Promise<string[]> {
  const format = ["--no-release-info", "--format", "$(RELEASE) $(REPO_URI)"];
  const text = await run("apt-get", "indextargets", ...format, "Created-By: Packages");
  const lines = text.trim().split("\n").map((line) => line.split(" "));
  const line = lines.find(([name]) => name === suite) ??
    lines.find(([name]) => name === ownSuite());
  if (line?.[1] === undefined) throw new Error("apt has no package source for a root to boot");
  return line[1].startsWith("mirror") ? [] : [line[1]];
}

/** Runs a program and returns its output. Throws with its output if it fails. */
export async function run(program: string, ...args: string[]): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(program, { args, stdin: "null" })
    .output();
  const text = new TextDecoder();
  if (success) return text.decode(stdout);
  throw new Error(`${program} ${args[0]} failed: ${text.decode(stderr)}${text.decode(stdout)}`);
}
