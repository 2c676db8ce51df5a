/** A registry of processes in a fake world, which behave as configured. */

import { parseConfig } from "../../src/model/config_schema.ts";
import { AppDirectory } from "../../src/manager/app_directory.ts";
import { RetriedWrites } from "../../src/platform/files/retried_writes.ts";
import { EventHub } from "../../src/manager/event_hub.ts";
import { Registry } from "../../src/manager/registry.ts";
import type { ManagedProcess } from "../../src/process/managed_process.ts";
import { type FakeChild, FakeWorld } from "../support/fake_world.ts";
import { tempHome } from "../support/temp_home.ts";

/** The processes of one fake world. */
export class FakeRegistry implements AsyncDisposable {
  readonly world: FakeWorld;
  readonly registry: Registry;
  readonly hub = new EventHub();
  /** Called to move logs. */
  moveLogs = (act: () => void): Promise<void> => Promise.resolve(act());
  readonly #temp: AsyncDisposable;

  constructor() {
    const temp = tempHome();
    this.#temp = temp;
    this.world = new FakeWorld(`${temp.path}/apps`);
    Deno.mkdirSync(`${temp.path}/records`);
    const paths = { records: `${temp.path}/records`, numericId: `${temp.path}/numeric_id` };
    this.registry = new Registry({
      world: this.world,
      paths,
      directory: new AppDirectory(() => {}),
      hub: this.hub,
      writes: new RetriedWrites(this.world.clock, () => {}),
      warn: () => {},
      peers: {
        launched: () => {},
        changed: () => {},
        moveLogs: (_, act) => this.moveLogs(act),
      },
    });
  }

  /** Registers a process and returns its first instance. */
  add(name: string, config: Record<string, unknown> = {}): ManagedProcess {
    return this.registry.add(
      parseConfig({ name, entrypoint: "/bin/sleep", cwd: "/", ...config }),
    )[0]!;
  }

  /** The latest launch of a process. */
  child(name: string): FakeChild | undefined {
    return this.world.children.findLast(({ spec }) => spec!.stdout.includes(`/${name}/`));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const process of this.registry.directory.list()) process.release();
    await this.#temp[Symbol.asyncDispose]();
  }
}
