/** What a service manager is given so that it starts the daemon. */

import { withoutShimFolder } from "../../platform/node_shim.ts";

/** Who and what is to be started at boot. */
export interface UnitRequest {
  /** For the machine, as root's, or for one user's session. */
  readonly scope: "system" | "user";
  /** Words that start procsup. */
  readonly words: readonly string[];
  readonly home: string;
  readonly userHome: string;
  /** Where apps look for programs: a service manager's own search path knows few. */
  readonly path: string;
  /** Version of the service manager, where what it understands depends on it; 0: unknown. */
  readonly version: number;
}

/** A command, and what follows when it fails. */
export interface Step {
  readonly words: readonly string[];
  /** Nothing but a service manager that runs can do it: left out while an image is being built. */
  readonly live?: true;
  /** What to say when it fails; without it, the whole has failed. */
  readonly advice?: string;
}

/** A file for a service manager. */
export interface Unit {
  readonly path: string;
  readonly text: string;
  readonly mode: number;
  /** What makes it known and starts it. Run once more, it puts a changed unit into effect. */
  readonly enable: readonly Step[];
  /** What stops it, and what is left to do when its file is gone. */
  readonly disable: readonly Step[];
  readonly removed: readonly Step[];
  readonly status: readonly string[];
}

/** A path like `PATH`, without what depends on the folder one is in. */
export function absoluteEntries(path: string): string {
  return withoutShimFolder(path).split(":").filter((entry) => entry.startsWith("/")).join(":");
}

/** Whether a unit's text is of a home, and not of one whose path only begins alike. */
export function namesHome(text: string, home: string): boolean {
  return text.split(home).slice(1).some((rest) => /^(?![\w./-])/.test(rest));
}

/** Whether two texts say the same. The search path does not count: it is that of whoever asked. */
export function sameUnit(one: string, other: string): boolean {
  return withoutPath(one) === withoutPath(other);
}

function withoutPath(text: string): string {
  return text
    .replace(/^Environment="?PATH=.*$/gm, "")
    .replace(/^(supervise_daemon_args=.* --env )\S*PATH=.*$/gm, "$1")
    .replace(/(<key>PATH<\/key>\s*<string>)[^<]*/g, "$1");
}
