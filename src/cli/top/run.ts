/** The live view: what comes in changes the state, and the state is drawn. */

import { messageOf } from "../../model/errors.ts";
import { HostMeter } from "../../platform/host.ts";
import type { DaemonClient } from "../../protocol/daemon_client.ts";
import type { ProcessJson } from "../../protocol/process_json.ts";
import { ListFeed } from "../list_feed.ts";
import type { HostFigures } from "./figures.ts";
import { wishOf } from "./key_wish.ts";
import { readKeys } from "./keyboard.ts";
import { LogFeed } from "./log_feed.ts";
import type { ActionCall, Effect, Message } from "./messages.ts";
import { perform, underWay } from "./perform.ts";
import { Screen } from "./screen.ts";
import { onSignals } from "./signals.ts";
import { initialState, type TopState } from "./state.ts";
import { Terminal } from "./terminal.ts";
import { update } from "./update.ts";
import { view } from "./view.ts";
import { wantedLogs, wantedWhy, wantsPorts } from "./wanted.ts";

/** What the view begins with. */
export interface TopOptions {
  readonly client: DaemonClient;
  readonly processes: readonly ProcessJson[];
  readonly color: boolean;
  readonly intervalMs: number;
}

/** Drawings further apart than this: thirty a second are more than anybody sees. */
const FRAME_MS = 33;
/** How often the daemon is asked about itself. */
const DAEMON_MS = 10_000;
/** How often it is asked what the apps listen on, while that is shown. */
const PORTS_MS = 3000;
/** Exit code when the terminal is gone: 128 + SIGHUP. */
const HUNG_UP = 129;

/** Shows the view until the person leaves; the exit code. The terminal is as before, whatever happens. */
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
  readonly #meter = new HostMeter();
  readonly #list: ListFeed;
  readonly #logs: LogFeed;
  readonly #over = Promise.withResolvers<number>();
  #undoSignals = () => {};
  #state: TopState;
  #frame: ReturnType<typeof setTimeout> | undefined;
  #drawnAt = -Infinity;
  /** The terminal is given back, or about to be. */
  #away = false;
  #whyKey = "";
  #daemonAskedAt = -Infinity;
  #portsAskedAt = -Infinity;

  constructor({ client, processes, color, intervalMs }: TopOptions) {
    this.#client = client;
    const now = Date.now();
    this.#state = initialState({ ...this.#terminal.size, color, now });
    this.#state = update(this.#state, { type: "list", processes, now }).state;
    this.#logs = new LogFeed(client, (news) => this.#tell(news));
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

  /** Resolves with the exit code. Rejects with what went wrong in here. */
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
      const wish = wishOf(input, this.#state);
      if (wish !== undefined) this.#tell(wish);
    }).then(gone, gone);
    return this.#over.promise;
  }

  /** Stops all, and gives the terminal back. */
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
    if (performance.now() - this.#daemonAskedAt < DAEMON_MS) return;
    this.#daemonAskedAt = performance.now();
    this.#client.call("system_metrics").then(({ daemon }) => {
      const { pid, version, memory_bytes: memory } = daemon;
      this.#tell({ type: "daemon", daemon: { pid, version, memory } });
    }).catch(() => {});
  }

  #tick(): void {
    this.#tell({ type: "tick", now: Date.now(), host: hostFigures(this.#meter) });
  }

  /** Asks for the explanation that the details show, when it may have become another one. */
  #explain(): void {
    const wanted = wantedWhy(this.#state);
    if ((wanted?.key ?? "") === this.#whyKey) return;
    this.#whyKey = wanted?.key ?? "";
    if (wanted === undefined) return;
    const { name, key } = wanted;
    this.#client.call("why", name).then(
      (why) => key === this.#whyKey && this.#tell({ type: "why", why }),
      // The list says what became of it; a look again asks again.
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

  /** A terminal moves its lines as it likes when its size changes. */
  #resized(): void {
    this.#screen.forget();
    this.#tell({ type: "size", ...this.#terminal.size });
  }
}

function hostFigures(meter: HostMeter): HostFigures {
  const read = meter.read();
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
