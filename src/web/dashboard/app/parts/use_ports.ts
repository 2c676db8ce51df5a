/** Keeps the ports of the processes up to date while somebody looks at them. */

import { useEffect } from "preact/hooks";
import { usePolled } from "../data/polled.ts";
import { ports, processList } from "../data/store.ts";
import type { PortsJson } from "../data/types.ts";

const EVERY_MS = 10_000;
/** An app that has just started takes a moment to listen. */
const SETTLED_MS = 3000;

/** Asks while the component is shown: soon after something started or ended, and now and then. */
export function usePorts(): void {
  const { data, reload } = usePolled<readonly PortsJson[]>("/ports", EVERY_MS);
  const pids = processList.value.map(({ pid }) => pid).join(" ");
  useEffect(() => {
    const timer = setTimeout(() => void reload(), SETTLED_MS);
    return () => clearTimeout(timer);
  }, [pids]);
  useEffect(() => {
    const found = data.value;
    if (found === undefined) return;
    ports.value = new Map(
      found.map(({ id, ports }) => [id, [...new Set(ports.map(({ port }) => port))]]),
    );
  }, [data.value]);
}
