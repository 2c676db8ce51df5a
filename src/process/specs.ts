/** The configurations of one process, by generation. */

import type { ProcessConfig } from "../model/process_config.ts";

export class Specs {
  /** As they were set. */
  readonly #given = new Map<number, ProcessConfig>();
  /** With the present number of instances. */
  readonly #specs = new Map<number, ProcessConfig>();
  #instances: number;

  constructor(generation: number, config: ProcessConfig) {
    this.#instances = config.instances;
    this.#set(generation, config);
  }

  /** The configuration of a generation. */
  specOf(generation: number): ProcessConfig {
    return this.#specs.get(generation)!;
  }

  /** Whether a configuration is that of a generation, apart from the number of instances. */
  isGiven(generation: number, config: ProcessConfig): boolean {
    return this.#given.get(generation) === config;
  }

  has(generation: number): boolean {
    return this.#given.has(generation);
  }

  /** Adds a configuration. Returns its generation. Forgets those that are not `used`. */
  add(config: ProcessConfig, used: readonly number[]): number {
    const generation = Math.max(...this.#given.keys()) + 1;
    for (const other of this.#given.keys()) {
      if (used.includes(other)) continue;
      this.#given.delete(other);
      this.#specs.delete(other);
    }
    this.#set(generation, config);
    return generation;
  }

  /** Sets the number of instances that they show. */
  recount(instances: number): void {
    this.#instances = instances;
    for (const [generation, config] of this.#given) this.#set(generation, config);
  }

  #set(generation: number, config: ProcessConfig): void {
    const instances = this.#instances;
    this.#given.set(generation, config);
    this.#specs.set(generation, config.instances === instances ? config : { ...config, instances });
  }
}
