/** One supervised process in a fake world. */

import { parseConfig } from "../../src/model/config_schema.ts";
import type { ProcessConfig } from "../../src/model/process_config.ts";
import { NEW, type Snapshot } from "../../src/model/process_state.ts";
import { ManagedProcess } from "../../src/process/managed_process.ts";
import type { Machine } from "../../src/process/process_actor.ts";
import { FakeWorld } from "../support/fake_world.ts";
import { tempHome } from "../support/temp_home.ts";

/** A process, its world, and its reports. */
export class LoneProcess implements AsyncDisposable {
  readonly world: FakeWorld;
  readonly process: ManagedProcess;
  readonly home: string;
  /** The states it went through, without repetitions. */
  readonly states: string[] = [];
  readonly notes: string[] = [];
  /** The results of the health checks, without repetitions. */
  readonly health: string[] = [];
  /** Called before each record; may throw. */
  onRecord: (now: Snapshot) => void = () => {};
  /** Its dependencies. */
  onDependencies: (signal: AbortSignal) => Promise<void> = () => Promise.resolve();
  /** Its configurations by generation. */
  readonly #specs = new Map<number, ProcessConfig>();
  readonly #temp: AsyncDisposable;

  constructor(config: Record<string, unknown> = {}, snapshot: Snapshot = NEW) {
    const temp = tempHome();
    this.#temp = temp;
    this.home = temp.path;
    this.world = new FakeWorld(`${temp.path}/apps`);
    const first = { name: "app", entrypoint: "/bin/sleep", cwd: temp.path, ...config };
    this.#specs.set(snapshot.generation, parseConfig(first));
    const machine: Machine = {
      world: this.world,
      record: ({ snapshot }) => this.onRecord(snapshot),
      whenRecorded: (_, act) => act(),
      recordSoon: ({ snapshot }) => {
        try {
          this.onRecord(snapshot);
        } catch {
          // A deferred write is retried later.
        }
      },
      changed: ({ snapshot: { state } }) => {
        if (this.states.at(-1) !== state) this.states.push(state);
      },
      note: (_, message) => this.notes.push(message),
      healthChanged: (_, health) => this.health.push(health),
      mayEnd: ({ config }) => config.restartPolicy === "never",
      dependencies: (_, signal) => this.onDependencies(signal),
      refuseClosed: () => {},
    };
    this.process = new ManagedProcess(
      { id: "id", numericId: 0, app: "app", name: "app", instanceIndex: 0, createdAt: new Date() },
      { specOf: (generation) => this.#specs.get(generation)! },
      snapshot,
      machine,
    );
  }

  /** Gives it a configuration from its next start on. */
  configure(changes: Partial<ProcessConfig>): void {
    this.process.post({ type: "generation", generation: this.#add(changes) });
  }

  /** Replaces its run by one with another configuration. */
  replaceWith(changes: Partial<ProcessConfig>): Promise<void> {
    return this.process.replace({ generation: this.#add(changes) });
  }

  #add(changes: Partial<ProcessConfig>): number {
    const generation = this.#specs.size + 1;
    this.#specs.set(generation, { ...this.process.config, ...changes });
    return generation;
  }

  get state(): string {
    return this.process.snapshot.state;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.process.release();
    await this.#temp[Symbol.asyncDispose]();
  }
}
