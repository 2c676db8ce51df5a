/**
 * Isolates an app from the rest of the machine, by programs of util-linux that each change one thing
 * and then become the next one. So the app keeps its pid and gets its signals itself: a program such
 * as bubblewrap stays as its parent and forwards no signals.
 */

import { ifPossible } from "../../model/errors.ts";
import { shellWord } from "../../model/shell_line.ts";
import { isLinux, outputOf } from "../os.ts";
import { systemProgram } from "../users/as_user.ts";
import { lookAt } from "../files/stat.ts";
import { wayProblem } from "../files/way.ts";

export interface Isolation {
  readonly noNewPrivs: boolean;
  readonly privateTmp: boolean;
  readonly readOnly: boolean;
  /** Absolute paths that stay writable with `readOnly`. */
  readonly writable: readonly string[];
}

/** The words before an app's command; empty without isolation. */
export function isolationWords(isolation: Isolation): string[] {
  const { noNewPrivs, privateTmp, readOnly } = isolation;
  const setpriv = noNewPrivs ? [systemProgram("setpriv")!, "--no-new-privs", "--"] : [];
  return privateTmp || readOnly ? [...namespaceWords(isolation), ...setpriv] : setpriv;
}

/**
 * Makes a mount namespace, which only root may do: another user does it as the root of a user
 * namespace, and becomes itself again in a second one.
 */
function namespaceWords(isolation: Isolation): string[] {
  const unshare = systemProgram("unshare")!;
  const shell = ["/bin/sh", "-c", mountScript(isolation), "procsup"];
  if (Deno.uid() === 0) return [unshare, "--mount", ...shell];
  const own = [`--map-user=${Deno.uid()}`, `--map-group=${Deno.gid()}`];
  return [
    unshare,
    "--user",
    "--map-root-user",
    "--mount",
    ...shell,
    unshare,
    "--user",
    ...own,
    "--",
  ];
}

/** Mount points that `readOnly` leaves as they are. */
const SYSTEM = ["/dev", "/proc", "/sys"];
const TMP = ["/tmp", "/var/tmp"];

/** In a subshell: a variable that it sets would replace the app's variable of that name. */
function mountScript({ privateTmp, readOnly, writable }: Isolation): string {
  const mount = systemProgram("mount")!;
  // The system lists a mount point by its real path. If a path leads elsewhere by the time it is
  // mounted, its target stays read-only.
  const open = writable.map((path) => shellWord(realPath(path)));
  const kept = [...[...SYSTEM, ...privateTmp ? TMP : []].map((path) => shellWord(path)), ...open];
  // `set -e` has no effect where `||` follows.
  const OR_FAIL = "|| exit 126";
  const lines: string[] = [];
  if (privateTmp) {
    const options = "mode=1777,nosuid,nodev";
    lines.push(
      `for path in ${TMP.join(" ")}; do`,
      `[ ! -d $path ] || [ -L $path ] || ${mount} -t tmpfs -o ${options} tmpfs $path ${OR_FAIL}`,
      "done",
    );
  }
  if (readOnly) {
    lines.push(
      ...open.map((path) => `${mount} --rbind ${path} ${path} ${OR_FAIL}`),
      // The app reports there that it is ready.
      "path=${PROCSUP_READY_FILE%/*}; case $path in ?*)",
      `[ ! -d "$path" ] || ${mount} --bind "$path" "$path" ${OR_FAIL};; esac`,
      "ready=$path",
      "while read -r _ _ _ _ path _; do",
      // Blanks are written as \040.
      `path=$(printf %b "$(printf %s "$path" | ${systemProgram("sed")} 's/\\\\/\\\\0/g')")`,
      `case $path/ in ${
        kept.map((path) => `${path}/*`).join(" | ")
      } | "\${ready:-/dev}"/) continue;; esac`,
      // Another one may be mounted above it.
      `[ ! -e "$path" ] || ${mount} -o remount,bind,ro "$path" ${OR_FAIL}`,
      "done </proc/self/mountinfo",
    );
  }
  return `(${lines.join("\n")}\n) || exit 126\nexec "$@"`;
}

function realPath(path: string): string {
  return ifPossible(() => Deno.realPathSync(path)) ?? path;
}

/** Whether `privateTmp` hides a path. */
export function isInTmp(path: string): boolean {
  return /^(\/var)?\/tmp(\/|$)/.test(realPath(path));
}

let mayMount: boolean | undefined;

/** Why this machine cannot isolate an app like this, as a clause; undefined if it can. */
export function isolationProblem(isolation: Isolation): string | undefined {
  const { noNewPrivs, privateTmp, readOnly, writable } = isolation;
  const keys = Object.entries({
    no_new_privs: noNewPrivs,
    private_tmp: privateTmp,
    read_only: readOnly,
  })
    .filter(([, isSet]) => isSet).map(([key]) => key);
  if (writable.length > 0 && !readOnly) return "writable needs read_only: true";
  const hidden = privateTmp && writable.find(isInTmp);
  if (hidden) return `writable path "${hidden}" is hidden by private_tmp`;
  if (keys.length === 0) return undefined;
  if (!isLinux) return `${keys[0]} needs Linux`;
  const programs = [
    ...noNewPrivs ? ["setpriv"] : [],
    ...privateTmp || readOnly ? ["unshare", "mount"] : [],
  ];
  const lacking = programs.find((program) => systemProgram(program) === undefined);
  if (lacking !== undefined) return `${keys.at(-1)} needs the program "${lacking}" (util-linux)`;
  const missing = writable.find((path) => lookAt(path) === undefined);
  if (missing !== undefined) return `writable path "${missing}" does not exist`;
  for (const path of writable) {
    const problem = realPath(path) === path ? undefined : wayProblem(path);
    if (problem === undefined) continue;
    return `writable path "${path}" leads over a link, and another user can change where: ${problem}`;
  }
  if (privateTmp || readOnly) mayMount ??= tryMount();
  return mayMount === false
    ? `${keys.at(-1)} needs a mount namespace, which this system refuses`
    : undefined;
}

function tryMount(): boolean {
  const isolation = { noNewPrivs: false, privateTmp: true, readOnly: true, writable: [] };
  const [program, ...args] = [...namespaceWords(isolation), "/bin/echo", "ok"];
  return outputOf(program!, args)?.trim() === "ok";
}
