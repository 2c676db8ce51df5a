/** What the screen is told about the machine and the daemon, and what it may show. */

/** What the lower part of the screen shows. */
export type Pane = "logs" | "details" | "graph" | "none";

/** The machine, as the first line tells of it. */
export interface HostFigures {
  readonly hostname: string;
  readonly cpuPercent: number;
  readonly cpuCount: number;
  readonly usedMemory: number;
  readonly totalMemory: number;
  readonly load: readonly [number, number, number];
  readonly uptimeSeconds: number;
}

/** The daemon that answers. */
export interface DaemonFigures {
  readonly pid: number;
  readonly version: string;
  readonly memory: number;
}
