/** A world of child processes that a test controls. */

import { NO_NOTICES, type Notice, parseNotice, withNotice } from "../../src/model/notice.ts";
import type { NoticeSource } from "../../src/platform/launch/notice_log.ts";
import type { Exit } from "../../src/model/process_info.ts";
import type { Run } from "../../src/model/process_state.ts";
import type { SignalName } from "../../src/model/signal.ts";
import type { Child, LaunchSpec } from "../../src/platform/launch/launcher.ts";
import type {
  Deadline,
  OrphanCleanup,
  StopProgress,
  TerminationResult,
} from "../../src/platform/scan/process_group.ts";
import type { SharedSockets } from "../../src/platform/sockets/sockets.ts";
import type { RunTarget } from "../../src/platform/launch/run_connection.ts";
import { Secrets } from "../../src/platform/launch/secrets.ts";
import type { World, WorldStopWay } from "../../src/platform/world.ts";
import { FakeClock } from "./fake_clock.ts";
import { waitFor } from "./wait_for.ts";

/** Above all pids of Linux: what is asked about them must not find a real process. */
export const FIRST_PID = 5_000_000;

/** One launched or adopted app. */
export class FakeChild implements Child {
  readonly run: Run;
  readonly spec: LaunchSpec | undefined;
  /** Signals sent to the app itself. */
  readonly signals: SignalName[] = [];
  readonly pid: Promise<number>;
  readonly exited: Promise<Exit>;
  readonly #pid = Promise.withResolvers<number>();
  readonly #exited = Promise.withResolvers<Exit>();
  #over = false;

  constructor(run: Run, spec?: LaunchSpec) {
    this.run = run;
    this.spec = spec;
    this.pid = this.#pid.promise;
    this.exited = this.#exited.promise;
  }

  get alive(): boolean {
    return !this.#over;
  }

  /** Makes the app's pid known. */
  begin(): void {
    this.#pid.resolve(this.run.wrapperPid + 1);
  }

  /** Ends it; `exit()` notices that. */
  end(): void {
    this.#over = true;
  }

  /** Ends it with an exit code or by a signal. */
  exit(how: number | SignalName): void {
    this.end();
    const at = new Date(Date.UTC(2026, 0, 1, 12));
    this.#exited.resolve(
      typeof how === "number" ? { code: how, signal: null, at } : { code: 143, signal: how, at },
    );
  }
}

/** What a fake run reports. */
export class FakeNotices implements NoticeSource {
  now = NO_NOTICES;
  /** Lines that have not been read yet. */
  unread = "";
  /** Whether its socket has a reader. */
  hasReader = true;
  readonly #listeners = new Set<(notice: Notice) => void>();

  say(lines: string): void {
    for (const line of lines.split("\n")) {
      const notice = parseNotice(line);
      if (notice === undefined) continue;
      this.now = withNotice(this.now, notice);
      for (const act of [...this.#listeners]) act(notice);
    }
  }

  listen(act: (notice: Notice) => void): () => void {
    this.#listeners.add(act);
    return () => this.#listeners.delete(act);
  }

  isRead(): boolean {
    return this.hasReader;
  }

  look(): void {
    const lines = this.unread;
    this.unread = "";
    this.say(lines);
  }
}

/** A world in which nothing happens by itself. */
export class FakeWorld implements World {
  readonly clock = new FakeClock();
  readonly bootId = "boot";
  readonly inherited = { PATH: "/usr/bin:/bin" };
  readonly secrets = new Secrets(this.inherited);
  readonly stdin = false;
  readonly apps: string;
  /** All launched and adopted children, in order. */
  readonly children: FakeChild[] = [];
  /** Signals that terminated runs. */
  readonly ends: SignalName[] = [];
  /** Whether pids are known at once, and apps end at once when terminated. */
  prompt = true;
  /** Pids that survive termination. */
  unending: readonly number[] = [];
  /** Called before each termination; may throw. */
  beforeEnd: () => void = () => {};
  /** Whether two runs of a process may overlap. */
  overlaps = false;
  /** The next launch waits for this promise. */
  busyLaunching: Promise<void> | undefined;
  /** Called before each launch; may throw. */
  beforeLaunch: (spec: LaunchSpec) => void = () => {};
  /** Resolves when leftover processes of an app have ended. */
  cleanup: Promise<number> = Promise.resolve(0);
  readonly #ready = new Map<string, () => void>();
  readonly #notices = new Map<string, FakeNotices>();

  constructor(apps: string) {
    this.apps = apps;
  }

  /** The newest child. */
  get child(): FakeChild {
    return this.children.at(-1)!;
  }

  random(): number {
    return 0;
  }

  launch(spec: LaunchSpec): FakeChild {
    this.beforeLaunch(spec);
    const twin = this.children.some((child) => child.alive && child.spec?.stdout === spec.stdout);
    if (twin && !this.overlaps) throw new Error(`two at once: ${spec.stdout}`);
    const wrapperPid = FIRST_PID + 10 * this.children.length;
    const { runId } = spec;
    return this.#add(
      new FakeChild({ runId, wrapperPid, wrapperStart: "1", bootId: "boot" }, spec),
    );
  }

  adopt(run: Run): FakeChild {
    return this.#add(new FakeChild(run));
  }

  #add(child: FakeChild): FakeChild {
    this.children.push(child);
    if (this.prompt) child.begin();
    return child;
  }

  follow(): undefined {}

  dropSockets(): void {}

  /** Connects a client; undefined while none is awaited. */
  connectClient: (() => void) | undefined;
  /** Whether clients are connected. */
  isUsed = false;

  awaitConnection(sockets: SharedSockets, act: (address: string) => void): () => void {
    this.connectClient = () => {
      this.connectClient = undefined;
      act(sockets.addresses[0]!.text);
    };
    return () => this.connectClient = undefined;
  }

  unusedForMs(): number {
    return this.isUsed ? 0 : Infinity;
  }

  hasEnded(runId: string): boolean {
    return this.children.some(({ run, alive }) => run.runId === runId && !alive);
  }

  exitOf(): Exit {
    return { code: null, signal: null, at: new Date(this.clock.now()) };
  }

  readyFile(runId: string): string {
    return `${this.apps}/${runId}.ready`;
  }

  whenReady(runId: string, act: () => void): () => void {
    this.#ready.set(runId, act);
    return () => this.#ready.delete(runId);
  }

  notifySocket(runId: string): string {
    return `${this.apps}/${runId}.sock`;
  }

  notices(run: Run): FakeNotices | undefined {
    if (!run.notify) return undefined;
    const known = this.#notices.get(run.runId) ?? new FakeNotices();
    this.#notices.set(run.runId, known);
    return known;
  }

  /** The newest child, or another run, reports something by sd_notify. */
  notify(lines: string, { runId } = this.child.run): void {
    this.notices({ runId, notify: true } as Run)!.say(lines);
  }

  /** Whether the supervisor waits for the newest child to report readiness. */
  get awaitsReady(): boolean {
    return this.#ready.has(this.child.run.runId);
  }

  /** Reports `READY=1` from the newest child. */
  sayReady(): void {
    this.#ready.get(this.child.run.runId)?.();
  }

  /** Reports the memory use of the newest child. Without a memory limit it does nothing. */
  useMemory: (bytes: number) => void = () => {};

  limitMemory(_run: Run, limit: number, exceeded: (bytes: number) => void): () => void {
    this.useMemory = (bytes) => bytes > limit && exceeded(bytes);
    return () => this.useMemory = () => {};
  }

  connect({ address }: RunTarget, signal: AbortSignal): Promise<Deno.TcpConn> {
    return Deno.connect({ ...address, signal });
  }

  forget(): void {}

  signal(run: Run, _pid: number, signal: SignalName): boolean {
    const child = this.#childOf(run);
    child.signals.push(signal);
    return child.alive;
  }

  /** Resolves at once if `prompt` is set, otherwise when the child has ended or at the deadline. */
  async terminate(
    run: Run,
    { signal }: WorldStopWay,
    deadline: Deadline,
    { isSent, sent }: StopProgress,
  ): Promise<TerminationResult> {
    this.beforeEnd();
    const child = this.#childOf(run);
    if (!isSent) {
      this.ends.push(signal);
      sent();
    }
    if (this.prompt && child.alive) child.exit(signal);
    await waitFor(() => !child.alive || this.clock.steady() >= deadline(), {
      what: "the end of a run",
    });
    const killed = child.alive;
    if (killed) child.exit("SIGKILL");
    return { killed, left: this.unending };
  }

  cleanUpOrphans(): OrphanCleanup {
    return { group: this.cleanup, all: this.cleanup.then((count) => ({ count })) };
  }

  #childOf(run: Run): FakeChild {
    return this.children.findLast((child) => child.run.runId === run.runId)!;
  }
}
