/** Converts the resource limits of a compose service. */

import { isMap } from "../document.ts";
import type { Keys } from "./imported.ts";

type Service = Readonly<Record<string, unknown>>;

/** How a limit is written under a service and under deploy.resources.limits, and what it becomes. */
const ROWS: readonly {
  readonly own: string;
  readonly deployed: string;
  /** Flag of `docker run`. */
  readonly flag: string;
  readonly form: RegExp;
  readonly convert: (text: string) => Keys;
}[] = [
  {
    ...{ own: "mem_limit", deployed: "memory", flag: "--memory" },
    form: /^\d+(\.\d+)?([kmg]b?|b)?$/i,
    convert: (text) => ({ memory: text.toUpperCase().replace(/([KMG])$/, "$1B") }),
  },
  {
    ...{ own: "cpus", deployed: "cpus", flag: "--cpus" },
    form: /^(?=.*[1-9])\d*(\.\d+)?$/,
    convert: (text) => ({ cpu_percent: Math.max(1, Number(text) * 100) }),
  },
  {
    ...{ own: "pids_limit", deployed: "pids", flag: "--pids-limit" },
    form: /^[1-9]\d*$/,
    convert: (text) => ({ pids: Number(text) }),
  },
];

/** Limits of a service as keys, as flags of `docker run`, and those that are not converted. */
export function serviceLimits(service: Service): { keys: Keys; flags: string[]; lost: string[] } {
  const { deploy } = service;
  const resources = isMap(deploy) && isMap(deploy.resources) ? deploy.resources : {};
  const limits = isMap(resources.limits) ? resources.limits : {};
  const keys: Keys = {};
  const flags: string[] = [];
  const lost: string[] = [];
  for (const { own, deployed, flag, form, convert } of ROWS) {
    const value = limits[deployed] ?? service[own];
    if (value === undefined || value === null) continue;
    const text = String(value).trim();
    flags.push(flag, text);
    if (form.test(text)) Object.assign(keys, convert(text));
    else lost.push(`${own} ${text}: write it into limits`);
  }
  return { keys, flags, lost };
}
