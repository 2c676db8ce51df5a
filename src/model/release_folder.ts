/**
 * The folders of an app's releases: `releases/N` in the folder of the app. The configuration of an
 * app names the release that runs, so a rollback of the configuration also goes back to the earlier
 * release. Pure.
 */

import type { ProcessConfig } from "./process_config.ts";

type Placed = Pick<ProcessConfig, "cwd" | "entrypoint">;

/** The folder of an app, and the number of its release. */
export interface ReleasePlace {
  readonly base: string;
  /** Undefined before the first release: the app runs in `base`. */
  readonly release?: number;
}

/** The folder and release that a working directory names. */
export function releasePlace(cwd: string): ReleasePlace {
  const [, base, number] = /^(.*)\/releases\/([1-9]\d{0,8})$/.exec(cwd) ?? [];
  return base === undefined ? { base: cwd } : { base, release: Number(number) };
}

/** The working directory of a release; the folder of the app without one. */
export function folderOf({ base, release }: ReleasePlace): string {
  return release === undefined ? base : `${base}/releases/${release}`;
}

/** The keys with paths, changed to another release, or without one to the folder of the app. */
export function inRelease({ cwd, entrypoint }: Placed, release: number | undefined): Placed {
  const to = folderOf({ base: releasePlace(cwd).base, release });
  const isInside = entrypoint.startsWith(`${cwd}/`);
  return { cwd: to, entrypoint: isInside ? to + entrypoint.slice(cwd.length) : entrypoint };
}

/** A configuration from a file, which names the folder of the app, changed to the release that runs. */
export function keptInRelease<T extends Placed>(config: T, running: string | undefined): T {
  const { base, release } = releasePlace(running ?? config.cwd);
  return release === undefined || base !== config.cwd
    ? config
    : { ...config, ...inRelease(config, release) };
}
