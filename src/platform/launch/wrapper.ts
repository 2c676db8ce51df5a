/**
 * The launch wrapper: the few lines of shell between the daemon and every app.
 *
 * It is the app's parent, so the exit code is known even if no daemon was running, and it leads the
 * app's own session and process group. It costs about 0.4 MB, and 1 ms per start.
 *
 * Arguments, which every user of the machine can read: `$1` folder of the run files, `$2` stdout log,
 * `$3` stderr log, `$4` lines of shell that set up the app's process (mostly none), `$5` name of the
 * process, then the command.
 * The run id, which identifies the app's processes, is only in the environment.
 *
 * - The app runs in the foreground: a background job of a shell has SIGINT and SIGQUIT ignored.
 * - `trap :` keeps the wrapper alive when its group gets a signal, even one of a fault (SIGSEGV).
 *   Unlike `trap ''` it is undone in the app by exec. SIGSTKFLT (16) and SIGIO (29) have other names,
 *   or none, in some shells.
 * - A shell that cannot fork exits at once: its EXIT trap writes a status that no app has.
 * - The app's process begins as a subshell, which saves an exec. There `$$` is the wrapper's pid, so
 *   the pid is read from the system.
 * - A variable that the wrapper sets would replace the app's variable of that name. It sets only
 *   `procsup_pid`, which no app gets. The set-up lines set only `LISTEN_PID` and `WATCHDOG_PID`, for
 *   the app.
 * - The set-up comes after the logs are opened and the pid is written: the app's user, and the limits
 *   set on it, may allow neither.
 * - Shared sockets stay open in the wrapper, too: the next daemon recovers them from here, whatever
 *   the app has done with its own descriptors or its user.
 * - The exit file also takes what the shell prints about a signal that ended the app, such as
 *   "Killed": `$?` is 137 after SIGKILL and after `exit 137`. bash prints it except in POSIX mode. No
 *   shell prints anything about SIGINT and SIGPIPE.
 * - Instead of the logs the app may have two pipes, each with a `cat` that copies it to its log: a
 *   program that opens `/dev/stderr` itself truncates a file, but not a pipe. Each `cat` has its own
 *   session and no run id, so that no signal to the app ends it before it has copied the last line.
 *   The pipes have names, which other users' apps may open, too.
 * - Standard input that stays open is a FIFO, which its reader has open for writing, too. Like the
 *   pipes it is not among the run files. Two `cat` connect a terminal with the FIFO and the log.
 * - The reader of the notify socket is apart like the `cat`; see notify_socket.ts. It is the last
 *   that is started before the app, and ends with it. A new main process gets another one.
 * - The exit status counts only with its newline, so half a write does not count. That saves a
 *   temporary file and a program to rename it.
 */

import { ProcsupError } from "../../model/errors.ts";
import { systemProgram } from "../users/as_user.ts";
import { isLinux } from "../os.ts";
import { NOTICE_READER } from "./notify_socket.ts";

/** Sets `procsup_pid` to the pid of a subshell: the first word of `stat`. */
const PID_LINE = isLinux
  ? "read procsup_pid </proc/self/stat; procsup_pid=${procsup_pid%% *}"
  : "procsup_pid=$(exec /bin/sh -c 'echo $PPID')";

/** The status that the wrapper writes when the system refused it a process for the app. */
export const NOT_STARTED = -1;

const POWER_SIGNAL = isLinux ? " PWR" : "";

/** A program in a session of its own and without the run id. */
const apart = (program: string) =>
  `unset PROCSUP_RUN_ID; PATH=/usr/bin:/bin; exec ${
    isLinux ? "setsid " : ""
  }${program} 2>/dev/null`;

const APART = apart("cat");

/**
 * A FIFO in the app's folder. A watch on another folder, such as that of the run files or of a log
 * outside of the home, opens each new file, and would count as a reader.
 */
const fifo = (stream: string) => `"\${1%/*}/apps/$5/${stream}.$PROCSUP_RUN_ID"`;
const [STDIN, STDOUT, STDERR] = ["stdin", "stdout", "stderr"].map(fifo);

/** Copies output from a pipe to its log, until every writer has closed the pipe. */
const carry = (pipe: string, log: string) => `(exec <${pipe} >>"${log}"; ${APART}) &`;

const PIPES = `command -p mkfifo -m 622 ${STDOUT} ${STDERR} || exit 126
${carry(STDOUT!, "$2")}
${carry(STDERR!, "$3")}`;

/** Open at both ends, so that it never ends; see app_input.ts. */
const INPUT = `command -p mkfifo -m 600 ${STDIN} || exit 126\n`;

/**
 * Descriptor 1 is the master of the terminal. The session leader opens the terminal, so it becomes
 * the controlling terminal. Two `cat` outside of the session hold the master: one copies output to
 * the log, one copies input from the FIFO, which descriptor 9 keeps open until the app has ended.
 */
const terminalLines = ({ path, master }: WrapperTerminal) =>
  `${INPUT}exec >&${master} ${master}>&-
exec <>${path} 9<>${STDIN}
(exec <&1 >>"$2" 9>&-; ${APART}) &
(exec <${STDIN} 9>&-; ${APART}) &`;

/** The descriptors of a wrapper: its reader must hold neither shared sockets nor a terminal. */
const NO_OTHERS = "3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-";

/** The line that becomes the reader of a notify socket, descriptor `fd`. */
const readerLine = (fd: number) =>
  `exec <&${fd} >>"$1/$PROCSUP_RUN_ID.notify" ${NO_OTHERS}; ${apart(NOTICE_READER)}`;

/** The lines that start it; `$!` is then its pid. */
const readerLines = (fd: number) => `
(${readerLine(fd)}) &
exec ${fd}>&-`;

const text = (prepare: string, open: string, drain: string, end: string) => `
trap : HUP INT QUIT ILL TRAP ABRT BUS FPE USR1 SEGV USR2 PIPE ALRM TERM 16 TSTP TTIN TTOU XCPU XFSZ VTALRM PROF 29 SYS${POWER_SIGNAL}
trap 'echo ${NOT_STARTED} >"$1/$PROCSUP_RUN_ID.exit"' EXIT
case $BASH_VERSION in ?*) command set +o posix; esac
command exec 2>>"$1/$PROCSUP_RUN_ID.exit"
${prepare}
(exec ${open}; ${PID_LINE}; echo $procsup_pid 2>/dev/null >"$1/$PROCSUP_RUN_ID.pid"; eval "$4"; unset procsup_pid; shift 5; exec "$@")
s=$?${end}
trap - EXIT
echo $s >>"$1/$PROCSUP_RUN_ID.exit"
exec 2>/dev/null
${drain}
exit $s`;

/** How an app reads and writes. */
interface WrapperIo {
  /** Whether it writes into pipes. */
  readonly piped?: boolean;
  /** Whether its standard input stays open. */
  readonly stdin?: boolean;
  readonly terminal?: WrapperTerminal | undefined;
  /** Descriptor of its notify socket in the wrapper. */
  readonly notify?: number | undefined;
}

/** The terminal of an app. */
interface WrapperTerminal {
  readonly path: string;
  /** Descriptor of its master in the wrapper, 9 at most. */
  readonly master: number;
}

export function wrapperScript(
  { piped = false, stdin = false, terminal, notify }: WrapperIo,
): string {
  const reader = notify === undefined ? "" : readerLines(notify);
  // A shell prints what it waits for: that it was ended. A signal that it traps is lost on a subshell
  // that has just begun, as the reader's has if the app ends at once.
  const end = notify === undefined ? "" : "; { kill -KILL $!; wait $!; } 2>/dev/null";
  if (terminal !== undefined) {
    const prepare = terminalLines(terminal) + reader;
    return text(prepare, ">&0 2>&0 9>&-", "exec </dev/null 9>&-; wait", end);
  }
  const input = stdin ? ` <>${STDIN}` : "";
  const prepare = stdin ? INPUT : "";
  if (!piped) return text(prepare + reader, `>>"$2" 2>>"$3"${input}`, "", end);
  // By then both pipes have a reader and a writer.
  const open = `>${STDOUT} 2>${STDERR}${input}; command -p rm ${STDOUT} ${STDERR}`;
  return text(prepare + PIPES + reader, open, "wait", end);
}

export interface WrapperWords extends WrapperIo {
  readonly folder: string;
  readonly stdout: string;
  readonly stderr: string;
  /** Lines of shell that set up the app's process. */
  readonly setup: string;
  /** Name of the process. */
  readonly name: string;
  readonly command: readonly string[];
}

/** The arguments of `/bin/sh`. */
export function wrapperWords(words: WrapperWords): string[] {
  const { folder, stdout, stderr, setup, name, command } = words;
  return ["-c", wrapperScript(words), "procsup", folder, stdout, stderr, setup, name, ...command];
}

/** The arguments of `/bin/sh` for a reader of the notify socket, descriptor 3, without a wrapper. */
export function readerWords(folder: string, runId: string): string[] {
  return ["-c", `PROCSUP_RUN_ID=$2; ${readerLine(3)}`, "procsup", folder, runId];
}

/** The same in the script of every version of the wrapper. */
const MARK = '>"$1/$PROCSUP_RUN_ID.exit"';

/** Parses the command line of a process. Undefined if the process is not a wrapper. */
export function parseWrapperWords(commandLine: readonly string[]): WrapperWords | undefined {
  const [, option, script, program, folder, stdout, stderr, setup, name, ...command] = commandLine;
  // Of many programs another user may choose the other arguments, even if they run as root.
  if (option !== "-c" || !script?.includes(MARK) || program !== "procsup") return undefined;
  if (name === undefined || command.length === 0) return undefined;
  return { folder: folder!, stdout: stdout!, stderr: stderr!, setup: setup!, name, command };
}

/** ksh runs a subshell in its own process, so that the app would have the pid of its wrapper. */
const UNFIT = /^r?ksh/;

/** Shells to use instead. */
const OTHERS = ["dash", "bash", "mksh"];

let found: string | undefined;

/** Path of the shell, found once. Throws `start_failed` if none works. */
export function wrapperShell(): string {
  return found ??= fitShell("/bin/sh");
}

/** The shell at a path, or another one if it is not fit for the wrapper. */
export function fitShell(path: string): string {
  const name = Deno.realPathSync(path).split("/").at(-1)!;
  if (!UNFIT.test(name)) return path;
  const other = OTHERS.map(systemProgram).find((program) => program !== undefined);
  if (other !== undefined) return other;
  throw new ProcsupError("start_failed", `${path} is ${name}, which cannot launch apps`, {
    hint: `Install one of ${OTHERS.join(", ")}`,
  });
}
