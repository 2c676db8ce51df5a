/** A process, as its effects see it. */

import type { ProcessConfig } from "../model/process_config.ts";
import type { ProcessEvent, Snapshot } from "../model/process_state.ts";

/** The process that effects are performed for. */
export interface Performer {
  /** UUID. */
  readonly id: string;
  readonly name: string;
  readonly instanceIndex: number;
  readonly config: ProcessConfig;
  readonly snapshot: Snapshot;
  post(event: ProcessEvent): void;
  /** Acts once it is on record as it is now: at once, unless the disk refused. */
  whenRecorded(act: () => void): void;
  /** Something worth telling that changes no state. */
  note(message: string): void;
  healthChanged(health: "healthy" | "unhealthy", reason: string): void;
  restart(options: { reason: string }): Promise<void>;
  /** Resolves when all dependencies are there; throws with the reason when one cannot be. */
  dependencies(signal: AbortSignal): Promise<void>;
}
