/** `procsup top`: a full-screen live view. */

import { messageOf, ProcsupError } from "../../model/errors.ts";
import { HostMeter } from "../../platform/host.ts";
import type { DaemonClient } from "../../protocol/daemon_client.ts";
import type { ProcessJson } from "../../protocol/wire.ts";
import type { CommandContext } from "../command.ts";
import { connect, connectQuietly } from "../connect.ts";
import { intervalOf, ListFeed } from "../list_feed.ts";
import { type Output, terminalSize } from "../output.ts";
import { commandOf } from "../top/keys.ts";
import { LogFeed } from "../top/log_feed.ts";
import {
  type Effect,
  type HostFigures,
  initialState,
  type Message,
  type TopState,
  wantedLogs,
  wantedPast,
  wantedWhy,
  wantsPorts,
} from "../top/state.ts";
import { onSignals, readKeys, Screen, Terminal } from "../top/terminal.ts";
import { update } from "../top/update.ts";
import { perform, underWay, type VerbCall } from "../top/verbs.ts";
import { view } from "../top/view.ts";

/** Shows the view, or prints one frame of it. Throws `bad_request` without a screen. */
export async function top(context: CommandContext): Promise<number> {
  const { flags, output, host } = context;
  if (!output.isForPeople) {
    throw refusal(`as ${output.format}`, `procsup list -o ${output.format}`);
  }
  const intervalMs = intervalOf(flags.text("interval"));
  const once = flags.on("once");
  if (!once) refuseWithoutScreen();
  const processes = await connect(context).call("list");
  if (once) {
    output.data(frame(processes, output).join("\n"));
    return 0;
  }
  // A quiet client: a note about the daemon's version must not be printed into the screen.
  const view = new Top(connectQuietly(context), {
    isRemote: host !== undefined,
    processes,
    color: output.color,
    intervalMs,
  });
  try {
    return await view.run();
  } finally {
    await view.end();
  }
}

function refuseWithoutScreen(): void {
  if (!Deno.stdout.isTerminal()) throw refusal("here: stdout is not a terminal");
  if (!Deno.stdin.isTerminal()) throw refusal("here: stdin is not a terminal");
  if (Deno.env.get("TERM") === "dumb") throw refusal('here: the terminal is "dumb"');
}

function refusal(where: string, hint?: string): ProcsupError {
  return new ProcsupError("bad_request", `Cannot show the live view ${where}`, {
    hint: hint ?? "procsup list --watch, procsup top --once, or procsup list -o json",
  });
}

interface TopOptions {
  readonly processes: readonly ProcessJson[];
  readonly color: boolean;
  readonly intervalMs: number;
  /** The daemon is on another machine and reports the figures of that host. */
  readonly isRemote: boolean;
}

/** Minimum time between frames: 30 per second. */
const FRAME_MS = 33;
/** Interval of requests for the daemon's figures. */
const DAEMON_MS = 10_000;
/** The same if they include the host's figures. */
const REMOTE_MS = 1000;
/** Points of the stored usage: more than a wide screen has columns. */
const PAST_POINTS = 240;
/** Interval of requests for ports while they are visible. */
const PORTS_MS = 3000;
/** Exit code when the terminal is gone: 128 + SIGHUP. */
const HUNG_UP = 129;

/** The live view: messages change the state, and the state is drawn. */
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
  #pastKey = "";
  #daemonAskedAt = -Infinity;
  #portsAskedAt = -Infinity;

  constructor(client: DaemonClient, { processes, color, intervalMs, isRemote }: TopOptions) {
    this.#client = client;
    this.#meter = isRemote ? undefined : new HostMeter();
    const now = Date.now();
    this.#state = initialState({ ...terminalSize(), color, now });
    this.#state = update(this.#state, { type: "list", processes, now }).state;
    this.#logs = new LogFeed(client, (event) => this.#update(event));
    this.#list = new ListFeed(client, {
      intervalMs,
      onList: (processes) => this.#listed(processes),
      onLost: (error) => {
        this.#daemonAskedAt = -Infinity;
        this.#update({ type: "lost", reason: messageOf(error), now: Date.now() });
      },
      onEvent: (event) => this.#update({ type: "event", event }),
    });
  }

  /** Shows the view until the user quits; resolves with the exit code. Rejects on an internal error. */
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
      if (command !== undefined) this.#update(command);
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

  #update(message: Message): void {
    try {
      const { state, effects } = update(this.#state, message);
      this.#state = state;
      for (const effect of effects) this.#carryOut(effect);
      this.#logs.follow(wantedLogs(state));
      this.#explain();
      this.#askPast();
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
        void this.#act(effect.call);
    }
  }

  async #act(call: VerbCall): Promise<void> {
    queueMicrotask(() => this.#update({ type: "done", text: underWay(call), bad: false }));
    this.#update({ type: "done", ...await perform(this.#client, call) });
    this.#list.refresh();
  }

  #listed(processes: readonly ProcessJson[]): void {
    this.#update({ type: "list", processes, now: Date.now() });
    this.#tick();
    const everyMs = this.#meter === undefined ? REMOTE_MS : DAEMON_MS;
    if (performance.now() - this.#daemonAskedAt < everyMs) return;
    this.#daemonAskedAt = performance.now();
    this.#client.call("system_metrics").then((metrics) => {
      if (this.#meter === undefined) this.#tick(metrics);
      this.#update({ type: "daemon", daemon: metrics.daemon });
    }).catch(() => {});
  }

  #tick(host: HostFigures | undefined = this.#meter?.read()): void {
    if (host !== undefined) this.#update({ type: "tick", now: Date.now(), host });
  }

  /** Requests the explanation in the details when it may have changed. */
  #explain(): void {
    const wanted = wantedWhy(this.#state);
    if ((wanted?.key ?? "") === this.#whyKey) return;
    this.#whyKey = wanted?.key ?? "";
    if (wanted === undefined) return;
    const { name, key } = wanted;
    this.#client.call("why", name).then(
      (why) => key === this.#whyKey && this.#update({ type: "why", why }),
      // Not reported: the list shows the state. The next message retries.
      () => key === this.#whyKey && (this.#whyKey = "failed"),
    );
  }

  /** Requests the stored usage in the graph when it may have changed. */
  #askPast(): void {
    const wanted = wantedPast(this.#state);
    if (wanted === undefined || wanted.key === this.#pastKey) return;
    const { key, name, since } = wanted;
    this.#pastKey = key;
    this.#client.call("metrics_history", { target: name, since, points: PAST_POINTS }).then(
      ({ series, step }) => {
        const points = series.find((one) => one.name === name)?.points ?? [];
        if (key === this.#pastKey) {
          this.#update({ type: "past", past: { name, since, points, step: step / 1e6 } });
        }
      },
      (error) => this.#update({ type: "done", text: messageOf(error), bad: true }),
    );
  }

  #askPorts(): void {
    if (!wantsPorts(this.#state) || performance.now() - this.#portsAskedAt < PORTS_MS) return;
    this.#portsAskedAt = performance.now();
    this.#client.call("ports").then((ports) => this.#update({ type: "ports", ports })).catch(
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
    this.#update({ type: "size", ...terminalSize() });
  }
}

/** Width without a terminal. */
const COLUMNS = 100;
/** Lines other than table rows: two head lines, the header, the foot. */
const OTHER_LINES = 4;

/** One frame with all apps, without the foot. */
function frame(
  processes: readonly ProcessJson[],
  { color, width: columns = COLUMNS }: Output,
): string[] {
  const now = Date.now();
  const rows = Math.max(12, processes.length + OTHER_LINES);
  const empty = { ...initialState({ columns, rows, color, now }), pane: "none" as const };
  const { state } = update(empty, { type: "list", processes, now });
  // A single frame has no cursor.
  const lines = view({ ...state, cursor: "" }).slice(1, 1 + 2 + Math.max(1, processes.length));
  return lines.map((line) => line.trimEnd());
}
