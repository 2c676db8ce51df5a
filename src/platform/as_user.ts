/**
 * How programs are started for other users: apps, hooks, checks, commands of secrets, questions to
 * runtimes. What runs before the change of user has an environment of ours and an absolute path. The
 * variables are handed over under other names and get their own after the change: as arguments every
 * user could read them, and in a file they would be on the disk.
 */

import { isLinux } from "./os.ts";
import { lookAt } from "./stat.ts";

/** Where programs of the system are looked for. */
const SYSTEM_PATH = "/usr/bin:/bin:/usr/sbin:/sbin:/usr/local/bin";

/** A user other than ours. With a name it has the groups of that name. */
export interface OtherUser {
  readonly uid: number;
  readonly gid: number;
  readonly name?: string;
}

/** A program and its whole environment. */
export interface Program {
  /** The first word is an absolute path. */
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** Variables of ours: they mean nothing to the programs in between, and mark processes early. */
const OURS = /^PROCSUP_\w+$/;

/**
 * Variables that some shell cannot pass on, acts upon, or changes: dash, bash, busybox and mksh were
 * asked. What every shell sets (PWD, SHLVL, _) is left to it.
 */
const NOT_FOR_SHELLS =
  /^(?![A-Za-z_]\w*$)|^(?:BASH\w*|COMP_WORDBREAKS|ENV|EPOCH\w+|HISTCMD|IFS|KSH\w+|LINENO|OPTERR|OPTIND|PATHSEP|PGRP|PIPESTATUS|POSIXLY_CORRECT|PPID|PS[124]|S?RANDOM|SECONDS|SHELLOPTS|USER_ID|procsup_pid)$/;

/** What cannot be done for other users here, as a sentence's end; undefined when all is there. */
export function otherUserProblem(): string | undefined {
  if (!isLinux || systemProgram("setpriv") === undefined) return 'need the program "setpriv"';
  if (!envSplits()) return 'need an "env" that knows -S, such as that of GNU coreutils 8.30';
  return undefined;
}

/** The program as it is started for a user; without one it stays as it is. */
export function startedFor(user: OtherUser | undefined, program: Program): Program {
  if (user === undefined) return program;
  const { argv, env } = renamed(program, []);
  return { argv: [...changeTo(user), ...argv], env };
}

/** The same behind a shell, which sets the variables `set` itself. */
export function startedByShell(
  user: OtherUser | undefined,
  program: Program,
  set: readonly string[],
): Program {
  if (user !== undefined) {
    const { argv, env } = renamed(program, set);
    return { argv: [...changeTo(user), ...argv], env };
  }
  const plain = !Object.keys(program.env).some((name) => NOT_FOR_SHELLS.test(name));
  // Without such an env the shell loses what it cannot pass on.
  return plain || !envSplits() ? program : renamed(program, set);
}

/** How long a program of another user may take to answer, in seconds: the supervisor waits for it. */
const ANSWER_SECONDS = "2";

/** Only the shell holds the end that is read from, whatever the program leaves running. */
const FIRST_LINE = '"$@" 2>/dev/null | { read -r line; echo "$line"; }';

/** The first line that a program prints; empty when it cannot be run. One of ours keeps our variables. */
export function askProgram(user: OtherUser | undefined, program: Program, cwd: string): string {
  const { argv: [own, ...ownArgs], env } = startedFor(user, program);
  const [name, ...args] = user === undefined
    ? [own, ...ownArgs]
    : [systemProgram("timeout"), "-k", "1", ANSWER_SECONDS]
      .concat("/bin/sh", "-c", FIRST_LINE, "sh", own, ...ownArgs);
  try {
    const { stdout } = new Deno.Command(name!, {
      args: args as string[],
      ...{ cwd, env, clearEnv: user !== undefined, stdin: "null", stderr: "null" },
    }).outputSync();
    return new TextDecoder().decode(stdout);
  } catch {
    return "";
  }
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

/** The variables under other names, and an `env` that gives them back their own. */
function renamed({ argv, env }: Program, set: readonly string[]): Program {
  const handed: Record<string, string> = { PATH: SYSTEM_PATH };
  const words = set.map((name) => `${name}=\${${name}}`);
  for (const [name, value] of Object.entries(env)) {
    const other = OURS.test(name) ? name : `e${words.length}`;
    handed[other] = other === name ? value : `${name}=${value}`;
    words.push(other === name ? `${name}=\${${name}}` : `\${${other}}`);
  }
  // A program with a "=" in its path would be taken for one more variable.
  const program = argv[0]!.includes("=") ? [systemProgram("nice")!, "-n", "0", ...argv] : argv;
  const first = [systemProgram("env")!, "-i", "-S", ["--", ...words].join(" ")];
  return { argv: [...first, ...program], env: handed };
}

let splits: boolean | undefined;

/** Whether `env` fills in variables in a text of words. Asked once. */
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
