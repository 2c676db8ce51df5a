/** Names of processes and their instances. */

import { basename } from "@std/path";

/** Name that stands for the host among processes. No process can have it. */
export const HOST = ".host";

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

/** Why `name` cannot name a process; undefined if it can. */
export function nameProblem(name: string): string | undefined {
  if (name.length > 128) return `is ${name.length} characters long, at most 128 are allowed`;
  if (!NAME.test(name)) {
    return "must start with a letter or digit and hold only letters, digits, '.', '_' and '-'";
  }
  if (name.toLowerCase() === "all") return "is reserved: it addresses every process";
  if (/^\d+$/.test(name)) return "cannot be all digits: that addresses a numeric id";
  return undefined;
}

/** Makes a valid name from a path or a command: `/srv/My app.ts` → `My-app`. */
export function nameFromPath(path: string): string {
  const base = basename(path);
  const stem = base.replace(/\.[A-Za-z0-9]{1,4}$/, "") || base;
  const cleaned = stem.replace(/[^A-Za-z0-9._-]+/g, "-").replace(/^[^A-Za-z0-9]+/, "").slice(
    0,
    128,
  );
  if (cleaned === "") return "app";
  return nameProblem(cleaned) === undefined ? cleaned : `app-${cleaned}`.slice(0, 128);
}

/** The names of a process's instances: `api`, or `api:0`, `api:1`, … when there are several. */
export function instanceNames(name: string, instances: number): string[] {
  return instances > 1 ? Array.from({ length: instances }, (_, i) => `${name}:${i}`) : [name];
}

/** The name that all instances of a process share: `api:3` → `api`. */
export function baseName(name: string): string {
  return name.replace(/:\d+$/, "");
}
