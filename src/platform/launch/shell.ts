/** Runs a short shell command beside an app: hooks and `command` checks. */

import { type OtherUser, startedFor, systemProgram } from "../users/as_user.ts";
import { systemClock } from "../clock.ts";
import { withOwnKeyring } from "../users/keyring.ts";
import { isLinux } from "../os.ts";
import { killOwnSession, spawnInOwnSession } from "./child_process.ts";
import { softLines } from "./ulimits.ts";

interface ShellCommand {
  readonly command: string;
  readonly cwd: string;
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** Ends the command, as its timeout does. */
  readonly signal?: AbortSignal | undefined;
  /** Keep the end of its output. */
  readonly capture?: boolean;
  /** Whether it may go on printing captured output after the end of this process. */
  readonly outlives?: boolean;
  /** The only line of its standard input; empty by default. */
  readonly input?: string | undefined;
  /** The user that it runs as, if not ours. */
  readonly user?: OtherUser | undefined;
}

export interface ShellResult {
  /** Null when it was ended by its timeout or signal. */
  readonly code: number | null;
  /** Why it did not end by itself. */
  readonly ended: "timeout" | "aborted" | null;
  /** The end of stdout and stderr, 64 KiB at most; empty unless captured. */
  readonly output: string;
}

const OUTPUT_BYTES = 64 * 1024;

/**
 * Lets a captured command outlive this process, whose end would mean SIGPIPE for whatever prints next.
 * A process beside the command keeps the pipe open for reading. It empties the pipe once its standard
 * input ends, which this process holds. It is not a child of the command. The arguments are the path
 * of `cat` and the command. Standard input begins with the line for the command, if there is one.
 */
function outliving(hasInput: boolean): string {
  return `exec 4<&0 2>&1${hasInput ? "; IFS= read -r procsup_input" : ""}
( ( exec 2>/dev/null 3</proc/self/fd/1 <&4 4<&- >/dev/null; read -r _; exec "$1" <&3 ) & )
shift
${hasInput ? `printf '%s\\n' "$procsup_input" | "$@" 4<&-` : 'exec "$@" 4<&- </dev/null'}`;
}

/**
 * Once the shell has ended, no more output is expected after two of these intervals without any:
 * processes left behind may keep the pipe open. In only one, a busy event loop may not have read it.
 */
const QUIET_MS = 50;

/** Maximum time to read after the shell has ended: processes left behind may go on writing. */
const DRAIN_MS = 1000;

/** Runs `sh -c`, in a group of its own that is killed as a whole at the timeout. */
export async function runShell(shell: ShellCommand): Promise<ShellResult> {
  const { input } = shell;
  const { argv, env, cwd } = startedFor(shell.user, {
    argv: ["/bin/sh", "-c", [...softLines(), shell.command].join("; ")],
    env: shell.env,
    cwd: shell.cwd,
  });
  const cat = shell.outlives && isLinux ? systemProgram("cat") : undefined;
  const [program, ...args] = cat === undefined
    ? argv
    : ["/bin/sh", "-c", outliving(input !== undefined), "sh", cat, ...argv];
  const output = shell.capture ? "piped" : "null";
  const child = withOwnKeyring(shell.user, () =>
    spawnInOwnSession(program!, {
      args,
      cwd,
      env,
      clearEnv: true,
      stdin: cat === undefined && input === undefined ? "null" : "piped",
      stdout: output,
      stderr: output,
    }));
  let ended: ShellResult["ended"] = null;
  const end = (why: "timeout" | "aborted") => {
    ended ??= why;
    killOwnSession(child.pid);
  };
  const cancelTimeout = systemClock.after(shell.timeoutMs, () => end("timeout"));
  const onAbort = () => end("aborted");
  shell.signal?.addEventListener("abort", onAbort);
  if (shell.signal?.aborted) onAbort();
  if (input !== undefined) await writeLine(child.stdin, input);
  if (cat === undefined && input !== undefined) await child.stdin.close().catch(() => {});
  const tail = shell.capture ? new OutputTail([child.stdout, child.stderr]) : undefined;
  const { code } = await child.status;
  cancelTimeout();
  shell.signal?.removeEventListener("abort", onAbort);
  const text = await tail?.text() ?? "";
  if (cat !== undefined) await child.stdin.close();
  return { code: ended === null ? code : null, ended, output: text };
}

/**
 * Runs a command and returns the secret that it prints, without the last newline. Throws if it fails;
 * its error output is not shown, since it may hold the secret.
 */
export async function printedSecret(shell: ShellCommand): Promise<string> {
  const command = `exec 2>/dev/null\n${shell.command}`;
  const { code, output } = await runShell({ ...shell, command, capture: true });
  if (code === null) throw new Error("its command did not end in time");
  if (code !== 0) throw new Error(`its command ended with exit code ${code}`);
  if (new TextEncoder().encode(output).length >= OUTPUT_BYTES) {
    throw new Error("its command printed 64 KiB or more");
  }
  // Bytes that are not UTF-8 were replaced, so this would be another secret.
  if (output.includes("\ufffd")) throw new Error("its command printed no text in UTF-8");
  return output.replace(/\r?\n$/, "");
}

/** Writes a line to a command, which may end without reading it. */
async function writeLine(stdin: WritableStream<Uint8Array>, line: string): Promise<void> {
  const writer = stdin.getWriter();
  await writer.write(new TextEncoder().encode(`${line}\n`)).catch(() => {});
  writer.releaseLock();
}

/** Reads streams to their end and keeps the last part. */
class OutputTail {
  readonly #readers: ReadableStreamDefaultReader<Uint8Array>[];
  readonly #done: Promise<unknown>;
  #chunks: Uint8Array[] = [];
  #length = 0;

  constructor(streams: readonly ReadableStream<Uint8Array>[]) {
    this.#readers = streams.map((stream) => stream.getReader());
    this.#done = Promise.all(this.#readers.map((reader) => this.#read(reader)));
  }

  /** Resolves with the kept output when the streams have ended, or no more output is expected. */
  async text(): Promise<string> {
    const deadline = performance.now() + DRAIN_MS;
    let seen = this.#chunks.at(-1);
    let quiet = 0;
    const patience = setInterval(() => {
      quiet = this.#chunks.at(-1) === seen ? quiet + 1 : 0;
      seen = this.#chunks.at(-1);
      if (quiet < 2 && performance.now() < deadline) return;
      for (const reader of this.#readers) reader.cancel().catch(() => {});
    }, QUIET_MS);
    await this.#done;
    clearInterval(patience);
    const bytes = await new Blob(this.#chunks as BlobPart[]).bytes();
    return new TextDecoder().decode(bytes.subarray(-OUTPUT_BYTES));
  }

  async #read(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
    for (;;) {
      const { done, value } = await reader.read().catch(() => ({ done: true, value: undefined }));
      if (done || value === undefined) return;
      this.#chunks.push(value);
      this.#length += value.length;
      while (this.#length - this.#chunks[0]!.length >= OUTPUT_BYTES) {
        this.#length -= this.#chunks.shift()!.length;
      }
    }
  }
}
