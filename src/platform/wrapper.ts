/**
 * The launch wrapper: the few lines of shell between the daemon and every app.
 *
 * It is the app's parent, so that an exit code is known even when no daemon was there to see it, and
 * it leads the app's own session and process group. It costs about 0.4 MB and 2 ms a start.
 *
 * Arguments: `$1` path stem of the run files, `$2` stdout log, `$3` stderr log, `$4` lines of shell
 * that set up the app's process (see `setupLines()`; mostly none), then the command.
 *
 * - The app runs in the foreground: a background job of a shell has SIGINT and SIGQUIT ignored.
 * - `trap :` keeps the wrapper alive through a signal to the group. Unlike `trap ''` it is undone
 *   in the app by exec.
 * - Only positional parameters are used before the app runs: a variable set here would change the
 *   app's environment if it carries one of that name. The set-up lines keep to that too, but for
 *   `LISTEN_PID`, which is meant for the app.
 * - The set-up comes after the logs are opened and the pid is written: the app's user, and the limits
 *   set on it, may allow neither.
 * - Shared sockets stay open in the wrapper as in the app: the next daemon takes them up from here,
 *   whatever the app has done with its own descriptors or its user.
 * - The logs are opened by the inner shell: what the outer one says of an app that was killed
 *   ("Killed") is none of the app's output.
 * - The exit status counts only with the newline behind it, so that half a write is none: it needs no
 *   temporary file, and no program to rename one.
 */
export const WRAPPER: string = `
trap : HUP INT QUIT ABRT USR1 USR2 PIPE ALRM TERM TSTP TTIN TTOU XCPU VTALRM PROF
/bin/sh -c 'exec >>"$1" 2>>"$2"; echo $$ >"$0.pid"; eval "$3"; shift 3; exec "$@"' "$@"
s=$?
echo $s >"$1.exit"
exit $s`;
