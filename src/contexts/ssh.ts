/** Reaches the daemon of another machine: the system's ssh runs `procsup dial-stdio` there. */

import { ProcsupError } from "../model/errors.ts";
import { singleQuoted } from "../model/shell_line.ts";
import { sleep } from "../platform/clock.ts";
import type { DaemonRequest, Way } from "../protocol/daemon_client.ts";
import {
  ByteReader,
  exchange,
  type RequestStream,
  type UnixResponse,
} from "../protocol/unix_http.ts";

/** A machine that ssh reaches, and procsup there. */
export interface MachineAddress {
  /** `user@server`, `ssh://user@server:2222`, or a name from ssh's configuration. */
  readonly destination: string;
  /** Path of procsup there; found on the PATH unless given. */
  readonly program?: string;
  /** Home of the daemon there. */
  readonly home?: string;
}

interface Machine extends MachineAddress {
  /** The user's name for it. */
  readonly name: string;
}

/** The first line from the other end. */
export interface Hello {
  readonly home: string;
  /** Base of relative paths. */
  readonly cwd: string;
  readonly cpus: number;
}

/** Prefix of the hello: lines before it come from a shell that prints something at its start. */
export const HELLO = "procsup-dial ";

/** Exit code of the other end if its daemon ends in the middle of an answer. */
export const DAEMON_GONE = 69;

/** Paths of requests that need no daemon: find out which paths are files, start the daemon. */
export const LOOK_PATH = "/dial/look";
export const START_PATH = "/dial/start";

/** Exit codes of ssh for a failed connection, and of a shell for a missing program. */
const SSH_FAILED = 255;
const NOT_FOUND = 127;

const MAX_NOISE_LINES = 1000;
const LAST_WORDS_MS = 200;
const MAX_MESSAGE_CHARS = 4096;

/** Another machine's daemon. Reuses idle connections; opens more for concurrent requests. */
export class Host implements Way {
  readonly machine: string;
  /** What ssh calls it. */
  readonly destination: string;
  readonly home: string;
  readonly #machine: Machine;
  readonly #open: () => SshStream;
  #idle: SshStream[] = [];

  /** With `isBatch` ssh asks for no password. Throws `bad_request` for an invalid destination. */
  constructor(machine: Machine, isBatch = false) {
    checkDestination(machine.destination);
    this.#machine = machine;
    this.machine = machine.name;
    this.destination = machine.destination;
    this.home = machine.home ?? "";
    this.#open = () => new SshStream(machine, isBatch, (stream) => this.#idle.push(stream));
  }

  /** Home, folder and CPUs of the other end. */
  async hello(): Promise<Hello> {
    const stream = this.#stream();
    const hello = await stream.hello;
    stream.keep();
    return hello;
  }

  async send(request: DaemonRequest): Promise<UnixResponse> {
    request.signal?.throwIfAborted();
    const { hook: _, ...rest } = request;
    return await exchange(this.#stream(), rest);
  }

  /** Runs a command of procsup there, with its output on ours. Returns its exit code. */
  async run(words: readonly string[]): Promise<number> {
    const child = spawn(this.#machine, false, words, {
      stdin: "null",
      stdout: "inherit",
      stderr: "inherit",
    });
    const { code } = await child.status;
    if (code !== SSH_FAILED) return code;
    throw new ProcsupError("host_unreachable", `Cannot reach ${this.machine} by ssh`);
  }

  /** A request that needs no daemon there. */
  async ask<T>(path: string, body: unknown = null): Promise<T> {
    const response = await this.send({ method: "POST", path, body: JSON.stringify(body) });
    const json = JSON.parse(await response.text());
    if (response.status === 200) return json;
    const { errorOf } = await import("../protocol/envelope.ts");
    throw errorOf({ ...json, error: `On ${this.machine}: ${json.error}` });
  }

  [Symbol.dispose](): void {
    for (const stream of this.#idle.splice(0)) stream.close();
  }

  #stream(): SshStream {
    this.#idle = this.#idle.filter(({ isOpen }) => isOpen);
    return this.#idle.pop() ?? this.#open();
  }
}

class SshStream implements RequestStream {
  readonly hello: Promise<Hello>;
  readonly keep: () => void;
  isOpen = true;
  readonly #machine: Machine;
  readonly #child: Deno.ChildProcess;
  readonly #input: WritableStreamDefaultWriter<Uint8Array>;
  readonly #output: ReadableStreamBYOBReader;
  readonly #reader = new ByteReader({ read: (into) => this.#read(into) });
  readonly #errorOutput: Promise<void>;
  #errors = "";
  #isJoined = false;

  constructor(machine: Machine, isBatch: boolean, keep: (stream: SshStream) => void) {
    this.#machine = machine;
    this.keep = () => keep(this);
    this.#child = spawn(machine, isBatch);
    this.#input = this.#child.stdin.getWriter();
    this.#output = this.#child.stdout.getReader({ mode: "byob" });
    this.#errorOutput = this.#readErrors().catch(() => {});
    void this.#child.status.then(() => this.isOpen = false);
    this.hello = this.#hello();
    // The request that reads the answer reports the failure.
    this.hello.catch(() => {});
  }

  async reader(): Promise<ByteReader> {
    await this.hello;
    return this.#reader;
  }

  async write(bytes: Uint8Array): Promise<number> {
    try {
      await this.#input.write(bytes);
      return bytes.length;
    } catch {
      throw await this.#failure();
    }
  }

  /** Closing its input ends it. Not killed once joined: a ControlMaster has other connections. */
  close(): void {
    this.isOpen = false;
    this.#input.close().catch(() => {});
    this.#child.unref();
    if (!this.#isJoined) this.#child.kill();
  }

  async #read(into: Uint8Array): Promise<number> {
    const { value } = await this.#output.read(new Uint8Array(into.length));
    if (!value?.length) throw await this.#failure();
    into.set(value);
    return value.length;
  }

  /** Keeps the end of what ssh or the remote shell writes to stderr. */
  async #readErrors(): Promise<void> {
    for await (const text of this.#child.stderr.pipeThrough(new TextDecoderStream())) {
      this.#errors = (this.#errors + text).slice(-MAX_MESSAGE_CHARS);
    }
  }

  async #hello(): Promise<Hello> {
    for (let lines = 0; lines < MAX_NOISE_LINES; lines++) {
      const line = await this.#reader.line();
      if (!line.startsWith(HELLO)) continue;
      this.#isJoined = true;
      return JSON.parse(line.slice(HELLO.length));
    }
    throw this.#unreachable("it does not begin to answer");
  }

  /** Why ssh has ended. */
  async #failure(): Promise<ProcsupError> {
    const { name, destination } = this.#machine;
    const { code } = await this.#child.status;
    // A ControlMaster may keep stderr open.
    await Promise.race([this.#errorOutput, sleep(LAST_WORDS_MS)]);
    const lastLine = this.#errors.split(/\r?\n/).filter((line) => /^\S/.test(line)).at(-1);
    const words = lastLine ?? `ssh ended with exit code ${code}`;
    if (this.#isJoined) {
      return code === DAEMON_GONE
        ? new ProcsupError("closed", `On ${name}: The daemon has gone`)
        : this.#unreachable(words, `The connection to ${name} is lost`);
    }
    if (code === SSH_FAILED) return this.#unreachable(words);
    const hint = code === NOT_FOUND
      ? "Install procsup there, or name its path there: --remote-procsup PATH"
      : `Both machines need the same procsup: ssh ${destination} procsup version`;
    return this.#unreachable(words, `Cannot run procsup on ${name}`, hint);
  }

  #unreachable(
    words: string,
    what = `Cannot reach ${this.#machine.name} by ssh`,
    hint?: string,
  ): ProcsupError {
    return new ProcsupError("host_unreachable", `${what}: ${words}`, { hint });
  }
}

/** Throws `host_unreachable` if ssh is not installed. */
function spawn(
  { name, destination, program, home }: Machine,
  isBatch: boolean,
  command: readonly string[] = ["dial-stdio"],
  how: Pick<Deno.CommandOptions, "stdin" | "stdout" | "stderr"> = {},
) {
  const words = [program ?? "procsup", ...command, ...(home ? ["--home", home] : [])];
  const options = [
    // Detect a lost machine, and turn off ssh settings that are meant for terminals.
    ...["ConnectTimeout=15", "ServerAliveInterval=15", "ClearAllForwardings=yes"],
    ...["RemoteCommand=none", ...(isBatch ? ["BatchMode=yes"] : [])],
  ];
  try {
    return new Deno.Command("ssh", {
      args: [
        ...["-T", ...options.flatMap((option) => ["-o", option])],
        ...["--", destination, words.map(remoteWord).join(" ")],
      ],
      ...{ stdin: "piped", stdout: "piped", stderr: "piped", ...how },
    }).spawn();
  } catch (cause) {
    const message = `Cannot reach ${name}: the program ssh cannot be run here`;
    throw new ProcsupError("host_unreachable", message, { cause });
  }
}

/** Quotes a word for the remote shell, which must expand `~/`. */
function remoteWord(word: string): string {
  const [, tilde = "", rest = word] = /^(~\/)(.*)$/.exec(word) ?? [];
  return tilde + singleQuoted(rest);
}

const HOST = /^(?:[A-Za-z0-9_][\w.-]*|[0-9a-fA-F:]*:[0-9a-fA-F:.]*(?:%\w+)?)$/;
const URL_HOST = /^(?:[A-Za-z0-9_][\w.-]*|\[[0-9a-fA-F:.]+(?:%\w+)?\])(?::\d{1,5})?\/?$/;
const USER = /^[A-Za-z0-9_][\w.+\\-]*$/;

/** Throws `bad_request` for text that ssh or a shell could take for an option or a command. */
export function checkDestination(text: string): void {
  const [, scheme, user, host = ""] = /^(ssh:\/\/)?(?:(.*)@)?(.*)$/s.exec(text) ?? [];
  const isHost = (scheme === undefined ? HOST : URL_HOST).test(host);
  if (isHost && (user === undefined || USER.test(user))) return;
  const hasPort = /^[\w.-]+:\d+$/.test(host) && scheme === undefined;
  throw new ProcsupError("bad_request", `Invalid host ${JSON.stringify(text)}`, {
    hint: hasPort
      ? `With a port: ssh://${text}`
      : "One such as user@server, ssh://user@server:2222, or a context: procsup context list",
  });
}
