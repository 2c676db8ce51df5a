/**
 * Finds users, and starts programs for other ones: apps, hooks, checks, commands of secrets, queries
 * to runtimes. What runs before the change of user gets an environment of ours and an absolute path.
 * The variables are passed under other names and get their own after the change: as arguments every
 * user could read them, and in a file they would be on the disk. The program enters its directory
 * after the change, too: a link of the user could lead us behind folders that the user cannot enter.
 */

import { parseId } from "../../model/user_id.ts";
import { readFileIfAny } from "../files/atomic_file.ts";
import { withOwnKeyring } from "./keyring.ts";
import { isLinux, outputOf } from "../os.ts";
import { variablesOf } from "../scan/process_environment.ts";
import { lookAt } from "../files/stat.ts";

/** Search path for programs of the system. */
const SYSTEM_PATH = "/usr/bin:/bin:/usr/sbin:/sbin:/usr/local/bin";

/**
 * A user other than our own, with its primary group. With a name, it has the groups of that name too;
 * a user known only by number has no name and no home.
 */
export interface OtherUser {
  readonly uid: number;
  readonly gid: number;
  readonly name?: string;
  readonly home?: string;
}

/**
 * Where root puts files for apps that run as other users, which cannot enter the home. Removed at the
 * next boot.
 */
export const FOR_OTHER_USERS = "/var/run/procsup";

/** Creates that folder with mode 0755, whatever our umask. Throws file system errors. */
export function prepareForOtherUsers(): void {
  Deno.mkdirSync(FOR_OTHER_USERS, { recursive: true });
  Deno.chmodSync(FOR_OTHER_USERS, 0o755);
}

interface Program {
  /** The first word is an absolute path. */
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
}

/** Ours keep their names: the programs in between ignore them, and they mark processes early. */
const OURS = /^PROCSUP_\w+$/;

/**
 * Variables that some shell (dash, bash, busybox or mksh) cannot pass on, acts upon, or changes.
 * Those that every shell sets (PWD, SHLVL, _) are left to it.
 */
const NOT_FOR_SHELLS =
  /^(?![A-Za-z_]\w*$)|^(?:BASH\w*|COMP_WORDBREAKS|ENV|EPOCH\w+|HISTCMD|IFS|KSH\w+|LINENO|OPTERR|OPTIND|PATHSEP|PGRP|PIPESTATUS|POSIXLY_CORRECT|PPID|PS[124]|S?RANDOM|SECONDS|SHELLOPTS|USER_ID|procsup_pid)$/;

/** What other users need and this machine lacks, as the end of a sentence; else undefined. */
export function otherUserProblem(): string | undefined {
  if (!isLinux || systemProgram("setpriv") === undefined) return 'need the program "setpriv"';
  if (!envSplits()) return 'need an "env" that knows -S, such as that of GNU coreutils 8.30';
  return undefined;
}

/** Makes a program run as a user. Without a user it stays as it is. */
export function startedFor(user: OtherUser | undefined, program: Program): Program {
  return user === undefined ? program : changed(user, program, []);
}

/** Like `startedFor()`, for a start by a shell that sets the variables in `set` itself. */
export function startedByShell(
  user: OtherUser | undefined,
  program: Program,
  set: readonly string[],
): Program {
  if (user !== undefined) return changed(user, program, set);
  const plain = !Object.keys(program.env).some((name) => NOT_FOR_SHELLS.test(name));
  // Without `env -S` the shell loses what it cannot pass on.
  return plain || !envSplits() ? program : renamed(program, set);
}

function changed(user: OtherUser, program: Program, set: readonly string[]): Program {
  const { argv, env } = renamed(program, set, ["-C", program.cwd]);
  return { argv: [...changeTo(user), ...argv], env, cwd: "/" };
}

/** Time limit of a query in seconds: the supervisor does nothing else meanwhile. */
const ANSWER_SECONDS = "2";

/** Only the shell writes to us: what the program leaves running cannot keep our pipe open. */
const FIRST_LINE = '"$@" 2>/dev/null | { read -r line; echo "$line"; }';

/**
 * The first line a program prints; empty if it cannot run or takes too long. Without `user` it keeps
 * our variables.
 */
export function askProgram(user: OtherUser | undefined, program: Program): string {
  const { argv, env, cwd } = startedFor(user, program);
  const timeout = systemProgram("timeout");
  const limit = timeout === undefined ? [] : [timeout, "-k", "1", ANSWER_SECONDS];
  const [name, ...args] = [...limit, "/bin/sh", "-c", FIRST_LINE, "sh", ...argv];
  const options = { cwd, env, clearEnv: user !== undefined };
  return withOwnKeyring(user, () => outputOf(name!, args, options))?.trim() ?? "";
}

/** The absolute path of a program of the system, or undefined. */
export function systemProgram(name: string): string | undefined {
  return SYSTEM_PATH.split(":").map((folder) => `${folder}/${name}`)
    .find((path) => lookAt(path)?.isFile);
}

function changeTo({ uid, gid, name }: OtherUser): string[] {
  const groups = name === undefined ? "--clear-groups" : "--init-groups";
  return [systemProgram("setpriv")!, "--reuid", `${uid}`, "--regid", `${gid}`, groups, "--"];
}

/** Passes the variables under other names to an `env` that restores their own. */
function renamed(
  { argv, env, cwd }: Program,
  set: readonly string[],
  options: readonly string[] = [],
): Program {
  const handed: Record<string, string> = { PATH: SYSTEM_PATH };
  const words = set.map((name) => `${name}=\${${name}}`);
  for (const [name, value] of Object.entries(env)) {
    const other = OURS.test(name) ? name : `e${words.length}`;
    handed[other] = other === name ? value : `${name}=${value}`;
    words.push(other === name ? `${name}=\${${name}}` : `\${${other}}`);
  }
  // `env` takes a path with a "=" for a variable.
  const program = argv[0]!.includes("=") ? [systemProgram("nice")!, "-n", "0", ...argv] : argv;
  const first = [systemProgram("env")!, "-i", ...options, "-S", ["--", ...words].join(" ")];
  return { argv: [...first, ...program], env: handed, cwd };
}

/** Identifies our `env -S`: a user's own command never contains this. */
const RUN_ID_WORD = "PROCSUP_RUN_ID=${PROCSUP_RUN_ID}";

/**
 * Undoes `startedByShell()`: returns the original program, from the arguments and the environment of
 * the process. Keeps words before ours, and an environment that has its own names already.
 */
export function givenProgram(
  { argv, env, cwd }: Program,
): Program & { readonly user?: OtherUser } {
  const at = argv.findIndex((word, at) => argv[at - 1] === "-S" && word.includes(RUN_ID_WORD));
  if (at === -1) return { argv, env, cwd };
  const change = argv.slice(0, at).indexOf("--reuid");
  const [uid, gid] = [argv[change + 1], argv[change + 3]].map(Number);
  const [nice, , , path] = argv.slice(at + 1);
  const program = nice === systemProgram("nice") && path?.includes("=") ? at + 4 : at + 1;
  return {
    argv: [...argv.slice(0, change === -1 ? at - 3 : change - 1), ...argv.slice(program)],
    env: underOwnNames(env, argv[at]!.split(" ")),
    cwd: argv[at - 3] === "-C" ? argv[at - 2]! : cwd,
    ...change !== -1 && { user: { uid: uid!, gid: gid! } },
  };
}

/** Restores the names in `handed`, using the words that `env -S` received. */
function underOwnNames(handed: Program["env"], words: readonly string[]): Program["env"] {
  const others = words.flatMap((word) => /^\$\{(e\d+)\}$/.exec(word)?.[1] ?? []);
  if (!others.every((name) => handed[name]?.includes("="))) return handed;
  const kept = Object.entries(handed).filter(([name]) => words.includes(`${name}=\${${name}}`));
  return { ...Object.fromEntries(kept), ...variablesOf(others.map((name) => handed[name]!)) };
}

let splits: boolean | undefined;

/** Whether `env` has -S and expands variables in it. Tested once. */
function envSplits(): boolean {
  return splits ??= askEnv(systemProgram("env"));
}

function askEnv(program: string | undefined): boolean {
  if (program === undefined) return false;
  const { stdout } = new Deno.Command(program, {
    args: ["-i", "-S", "-- ${e0}", program],
    env: { e0: "a.b=c d" },
    clearEnv: true,
    stdin: "null",
    stderr: "null",
  }).outputSync();
  return new TextDecoder().decode(stdout) === "a.b=c d\n";
}

interface User {
  readonly uid: number;
  readonly gid: number;
  readonly name: string;
  readonly home: string;
}

/** A user by name or id, or undefined. Throws a `RangeError` for a number that is no id. */
export function findUser(user: string | number): User | undefined {
  const row = findRow("passwd", user);
  const [uid, gid] = [2, 3].map((field) => parseId(row?.[field] ?? ""));
  if (row === undefined || uid === undefined || gid === undefined) return undefined;
  return { name: row[0]!, uid, gid, home: row[5]! };
}

/** A group's id by its name, or undefined. */
export function findGroup(group: string): number | undefined {
  return parseId(findRow("group", group)?.[2] ?? "");
}

/** The fields of a database entry: from its file, else from `getent`. */
function findRow(database: "passwd" | "group", key: string | number): string[] | undefined {
  const field = parseId(key) === undefined ? 0 : 2;
  const rows = (readFileIfAny(`/etc/${database}`) ?? "").split("\n").map((row) => row.split(":"));
  return rows.find((row) => row[field] === String(key)) ?? getent(database, String(key));
}

/** Finds users of a directory service, who are in no file. */
function getent(database: string, key: string): string[] | undefined {
  const program = systemProgram("getent");
  if (program === undefined) return undefined;
  const row = outputOf(program, ["--", database, key])?.trim();
  return row ? row.split(":") : undefined;
}
