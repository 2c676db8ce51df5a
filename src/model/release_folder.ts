/**
 * Where the releases of an app are: `releases/N` in its folder. Its configuration names the one that
 * runs, so that a rollback of the configuration is one of the release. Pure.
 */

import type { ProcessConfig } from "./process_config.ts";

type Placed = Pick<ProcessConfig, "cwd" | "entrypoint">;

/** The folder of an app, and the number of its release. */
export interface ReleasePlace {
  readonly base: string;
  /** Undefined before the first release: the app runs in `base`. */
  readonly release?: number;
}

/** The place that a working directory is. */
export function releasePlace(cwd: string): ReleasePlace {
  const [, base, number] = /^(.*)\/releases\/([1-9]\d{0,8})$/.exec(cwd) ?? [];
  return base === undefined ? { base: cwd } : { base, release: Number(number) };
}

/** The working directory that a place is. */
export function folderOf({ base, release }: ReleasePlace): string {
  return release === undefined ? base : `${base}/releases/${release}`;
}

/** The keys of an app that follow it into another release, without one into its own folder. */
export function inRelease({ cwd, entrypoint }: Placed, release: number | undefined): Placed {
  const to = folderOf({ base: releasePlace(cwd).base, release });
  const isInside = entrypoint.startsWith(`${cwd}/`);
  return { cwd: to, entrypoint: isInside ? to + entrypoint.slice(cwd.length) : entrypoint };
}

/** A configuration from a file, which names the folder of all releases, in the one that runs. */
export function keptInRelease<T extends Placed>(config: T, running: string | undefined): T {
  const { base, release } = releasePlace(running ?? config.cwd);
  return release === undefined || base !== config.cwd
    ? config
    : { ...config, ...inRelease(config, release) };
}
