/** Probes of process-compose → health checks. */

import { isMap } from "../document.ts";
import { type Keys, seconds } from "./imported.ts";

const TIMES: Readonly<Record<string, string>> = {
  period_seconds: "interval",
  timeout_seconds: "timeout",
  initial_delay_seconds: "grace_period",
};

const COUNTS: Readonly<Record<string, string>> = {
  failure_threshold: "retries",
  success_threshold: "success_threshold",
};

/** The health check that a probe is. */
export function probe(value: unknown): Keys {
  if (!isMap(value)) return {};
  const keys: Keys = target(value);
  for (const [from, to] of Object.entries(TIMES)) {
    if (value[from] !== undefined) keys[to] = seconds(value[from]);
  }
  for (const [from, to] of Object.entries(COUNTS)) {
    // 0 there is its default.
    if (value[from] !== undefined) keys[to] = Math.max(1, Number(value[from]));
  }
  return keys;
}

function target({ http_get, exec }: Record<string, unknown>): Keys {
  if (isMap(exec)) return { type: "command", command: String(exec.command) };
  if (!isMap(http_get)) return {};
  const { scheme = "http", host = "127.0.0.1", port, path = "/" } = http_get;
  const at = port === undefined ? host : `${host}:${port}`;
  return { type: "http", url: `${scheme}://${at}/${String(path).replace(/^\//, "")}` };
}
