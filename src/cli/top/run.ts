/** The live view: messages change the state, and the state is drawn. */

import { messageOf } from "../../model/errors.ts";
import { HostMeter } from "../../platform/host.ts";
import type { BulkResult, ProcessJson } from "../../protocol/wire.ts";
import type { DaemonClient } from "../../protocol/daemon_client.ts";
import { counted } from "../human.ts";
import { ListFeed } from "../list_feed.ts";
import { commandOf } from "./keys.ts";
import { LogFeed } from "./log_feed.ts";
import type { ActionCall, Effect, HostFigures, Message, Verb } from "./messages.ts";
import { wantedLogs, wantedWhy, wantsPorts } from "./normalize_state.ts";
import { initialState, type TopState } from "./state.ts";
import { onSignals, readKeys, Screen, Terminal } from "./terminal.ts";
import { update } from "./update.ts";
import { view } from "./view.ts";

/** Options of the view. */
export interface TopOptions {
  readonly client: DaemonClient;
  readonly processes: readonly ProcessJson[];
  readonly color: boolean;
  readonly intervalMs: number;
  /** The daemon is on another machine: the figures of the host are asked of it. */
  readonly isRemote: boolean;
}

/** Minimum time between frames: 30 per second. */
const FRAME_MS = 33;
/** Interval of requests for the daemon's figures. */
const DAEMON_MS = 10_000;
/** The same when they hold the host's figures, too. */
const REMOTE_MS = 1000;
/** Interval of requests for ports while they are visible. */
const PORTS_MS = 3000;
/** Exit code when the terminal is gone: 128 + SIGHUP. */
const HUNG_UP = 129;

/** Shows the view until the user quits; returns the exit code. Always restores the terminal. */
export async function runTop(options: TopOptions): Promise<number> {
  const top = new Top(options);
  try {
    return await top.run();
  } finally {
    await top.end();
  }
}

class Top {
  readonly #client: DaemonClient;
  readonly #terminal = new Terminal();
  readonly #screen = new Screen((text) => this.#terminal.write(text));
  /** Undefined for another machine. */
  readonly #meter: HostMeter | undefined;
  readonly #list: ListFeed;
  readonly #logs: LogFeed;
  readonly #over = Promise.withResolvers<number>();
  #undoSignals = () => {};
  #state: TopState;
  #frame: ReturnType<typeof setTimeout> | undefined;
  #drawnAt = -Infinity;
  /** The terminal is restored, or about to be. */
  #away = false;
  #whyKey = "";
  #daemonAskedAt = -Infinity;
  #portsAskedAt = -Infinity;

  constructor({ client, processes, color, intervalMs, isRemote }: TopOptions) {
    this.#client = client;
    this.#meter = isRemote ? undefined : new HostMeter();
    const now = Date.now();
    this.#state = initialState({ ...this.#terminal.size, color, now });
    this.#state = update(this.#state, { type: "list", processes, now }).state;
    this.#logs = new LogFeed(client, (event) => this.#tell(event));
    this.#list = new ListFeed(client, {
      intervalMs,
      onList: (processes) => this.#listed(processes),
      onLost: (error) => {
        this.#daemonAskedAt = -Infinity;
        this.#tell({ type: "lost", reason: messageOf(error), now: Date.now() });
      },
      onEvent: (event) => this.#tell({ type: "event", event }),
    });
  }

  /** Resolves with the exit code. Rejects on an internal error. */
  run(): Promise<number> {
    this.#undoSignals = onSignals({
      end: (code) => this.#over.resolve(code),
      suspend: () => void this.#suspend(),
      resume: () => this.#resume(),
      resized: () => this.#resized(),
      failed: (error) => this.#over.reject(error),
    });
    this.#terminal.take();
    this.#tick();
    this.#list.run().catch((error) => this.#over.reject(error));
    const gone = () => this.#over.resolve(HUNG_UP);
    readKeys((input) => {
      const command = commandOf(input, this.#state);
      if (command !== undefined) this.#tell(command);
    }).then(gone, gone);
    return this.#over.promise;
  }

  /** Stops everything and restores the terminal. */
  async end(): Promise<void> {
    this.#undoSignals();
    this.#list.stop();
    this.#logs.follow(undefined);
    await this.#giveBack();
  }

  async #giveBack(): Promise<void> {
    this.#away = true;
    await this.#terminal.giveBack();
  }

  #tell(message: Message): void {
    try {
      const { state, effects } = update(this.#state, message);
      this.#state = state;
      for (const effect of effects) this.#carryOut(effect);
      this.#logs.follow(wantedLogs(state));
      this.#explain();
      this.#askPorts();
      this.#drawSoon();
    } catch (error) {
      this.#over.reject(error);
    }
  }

  #carryOut(effect: Effect): void {
    switch (effect.type) {
      case "quit":
        return this.#over.resolve(0);
      case "redraw":
        return this.#screen.forget();
      case "act":
        void this.#act(effect.action);
    }
  }

  async #act(action: ActionCall): Promise<void> {
    queueMicrotask(() => this.#tell({ type: "done", text: underWay(action), bad: false }));
    this.#tell({ type: "done", ...await perform(this.#client, action) });
    this.#list.refresh();
  }

  #listed(processes: readonly ProcessJson[]): void {
    this.#tell({ type: "list", processes, now: Date.now() });
    this.#tick();
    const everyMs = this.#meter === undefined ? REMOTE_MS : DAEMON_MS;
    if (performance.now() - this.#daemonAskedAt < everyMs) return;
    this.#daemonAskedAt = performance.now();
    this.#client.call("system_metrics").then((metrics) => {
      const { pid, version, memory_bytes: memory } = metrics.daemon;
      if (this.#meter === undefined) this.#tick(hostFigures(metrics));
      this.#tell({ type: "daemon", daemon: { pid, version, memory } });
    }).catch(() => {});
  }

  #tick(host = this.#meter && hostFigures(this.#meter.read())): void {
    if (host !== undefined) this.#tell({ type: "tick", now: Date.now(), host });
  }

  /** Requests the explanation in the details when it may have changed. */
  #explain(): void {
    const wanted = wantedWhy(this.#state);
    if ((wanted?.key ?? "") === this.#whyKey) return;
    this.#whyKey = wanted?.key ?? "";
    if (wanted === undefined) return;
    const { name, key } = wanted;
    this.#client.call("why", name).then(
      (why) => key === this.#whyKey && this.#tell({ type: "why", why }),
      // The list shows its state; selecting it again retries.
      () => key === this.#whyKey && (this.#whyKey = "failed"),
    );
  }

  #askPorts(): void {
    if (!wantsPorts(this.#state) || performance.now() - this.#portsAskedAt < PORTS_MS) return;
    this.#portsAskedAt = performance.now();
    this.#client.call("ports").then((ports) => this.#tell({ type: "ports", ports })).catch(
      () => {},
    );
  }

  #drawSoon(): void {
    if (this.#frame !== undefined) return;
    const wait = Math.max(0, this.#drawnAt + FRAME_MS - performance.now());
    this.#frame = setTimeout(() => {
      this.#frame = undefined;
      this.#draw();
    }, wait);
  }

  #draw(): void {
    if (this.#away) return;
    try {
      this.#drawnAt = performance.now();
      this.#screen.draw(view(this.#state), this.#state.columns);
      this.#screen.idle.catch(() => this.#over.resolve(HUNG_UP));
    } catch (error) {
      this.#over.reject(error);
    }
  }

  async #suspend(): Promise<void> {
    await this.#giveBack();
    Deno.kill(Deno.pid, "SIGSTOP");
  }

  #resume(): void {
    this.#terminal.take();
    this.#away = false;
    this.#resized();
    this.#list.refresh();
  }

  /** A terminal may move its lines when it is resized. */
  #resized(): void {
    this.#screen.forget();
    this.#tell({ type: "size", ...this.#terminal.size });
  }
}

function hostFigures(read: ReturnType<HostMeter["read"]>): HostFigures {
  return {
    hostname: read.hostname,
    cpuPercent: read.cpu_percent,
    cpuCount: read.cpu_count,
    usedMemory: read.used_memory,
    totalMemory: read.total_memory,
    load: [read.cpu_load_1, read.cpu_load_5, read.cpu_load_15],
    uptimeSeconds: read.uptime_seconds,
  };
}

/** Width without a terminal. */
const COLUMNS = 100;
/** Lines other than table rows: two head lines, the header, the foot. */
const OTHER_LINES = 4;

/** One frame with all apps, without the foot. */
export function frame(
  processes: readonly ProcessJson[],
  { color, columns = COLUMNS }: { color: boolean; columns?: number | undefined },
): string[] {
  const now = Date.now();
  const rows = Math.max(12, processes.length + OTHER_LINES);
  const empty = { ...initialState({ columns, rows, color, now }), pane: "none" as const };
  const { state } = update(empty, { type: "list", processes, now });
  // A single frame has no cursor.
  const lines = view({ ...state, cursor: "" }).slice(1, 1 + 2 + Math.max(1, processes.length));
  return lines.map((line) => line.trimEnd());
}

/** Most concurrent calls. */
const AT_ONCE = 8;

type Call = (client: DaemonClient, target: string, word: string) => Promise<Partial<BulkResult>>;

const CALLS: Readonly<Record<Verb, Call>> = {
  start: (client, target) => client.call("start", { target, wait: true }),
  stop: (client, target) => client.call("stop", { target }),
  restart: (client, target) => client.call("restart", { target, wait: true }),
  reload: (client, target) => client.call("reload", { target, wait: true }),
  delete: (client, target) => client.call("delete", { target }),
  flush: (client, target) => client.call("flush", { target }),
  signal: (client, target, signal) => client.call("signal", { target, signal }),
  scale: (client, target, instances) => client.call("scale", { target, instances }),
  roll: (client, target) => client.call("rolling_reload", { target }),
};

const DOING: Readonly<Record<Verb, readonly [now: string, done: string]>> = {
  start: ["starting", "started"],
  stop: ["stopping", "stopped"],
  restart: ["restarting", "restarted"],
  reload: ["reloading", "reloaded"],
  delete: ["deleting", "deleted"],
  flush: ["emptying the logs of", "has empty logs"],
  signal: ["signalling", "signalled"],
  scale: ["scaling", "scaled"],
  roll: ["rolling", "rolled"],
};

/** Notice while a verb is in progress. */
export function underWay({ verb, targets }: ActionCall): string {
  return `${DOING[verb][0]} ${namesOf(targets)} …`;
}

/** Performs the verb on every target and returns a notice. Never throws. */
export async function perform(
  client: DaemonClient,
  action: ActionCall,
): Promise<{ readonly text: string; readonly bad: boolean }> {
  const { verb, word = "", targets } = action;
  const failures: string[] = [];
  const waiting = [...targets];
  const worker = async () => {
    for (let target = waiting.shift(); target !== undefined; target = waiting.shift()) {
      try {
        const { results = [] } = await CALLS[verb](client, target, word);
        for (const { ok, name, error } of results) if (!ok) failures.push(`${name}: ${error}`);
      } catch (error) {
        failures.push(`${target}: ${messageOf(error)}`);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, targets.length) }, worker));
  if (failures.length === 0) return { text: `✔ ${namesOf(targets)} ${DOING[verb][1]}`, bad: false };
  const more = failures.length === 1 ? "" : ` (and ${failures.length - 1} more)`;
  return { text: `✘ ${verb} ${failures[0]}${more}`, bad: true };
}

function namesOf(targets: readonly string[]): string {
  return targets.length === 1 ? targets[0]! : counted(targets.length, "app");
}
