/**
 * Exports the metrics of `/metrics`, and the events of apps as spans, by OTLP. Uses Deno's exporter.
 * This module is loaded only if the daemon was started with `OTEL_DENO=true`.
 */

import { baseName } from "../model/name.ts";
import type { ProcessChange } from "../model/process_info.ts";
import { VERSION } from "../protocol/version.ts";
import type { Backend } from "../web/backend.ts";
import { type Metric, readMetrics } from "../web/prometheus.ts";

/** The parts of OpenTelemetry's interfaces that are used here. Deno has no types for them. */
interface Observer {
  observe(value: number, attributes?: Readonly<Record<string, string>>): void;
}
interface Instrument {
  addCallback(observed: (observer: Observer) => void | Promise<void>): void;
}
interface Span {
  end(at?: Date): void;
}

/** Begins to export; `events` are those since the daemon began. */
export function exportTelemetry(backend: Backend, events: ReadableStream<ProcessChange>): void {
  exportMetrics(backend);
  void exportEvents(events);
}

function exportMetrics(backend: Backend): void {
  const meter = Deno.telemetry.meterProvider.getMeter("procsup", VERSION);
  let last = new Map<string, Metric>();
  const known = new Set<string>();
  const add = ({ name, help: description }: Metric) => {
    known.add(name);
    const kind = name.endsWith("_total") ? "Counter" : "Gauge";
    const instrument: Instrument = meter[`createObservable${kind}`](name, { description });
    instrument.addCallback((observer) => {
      for (const { value, labels } of last.get(name)?.samples ?? []) {
        observer.observe(value, labels);
      }
    });
  };
  // Called for each export. A new metric is part of the next export.
  const first: Instrument = meter.createObservableGauge("procsup_exported", {
    description: "Metrics of the last export",
  });
  first.addCallback(async (observer) => {
    const metrics = await readMetrics(backend);
    last = new Map(metrics.map((metric) => [metric.name, metric]));
    metrics.filter(({ name }) => !known.has(name)).forEach(add);
    observer.observe(metrics.length);
  });
}

async function exportEvents(events: ReadableStream<ProcessChange>): Promise<void> {
  const tracer = Deno.telemetry.tracerProvider.getTracer("procsup", VERSION);
  for await (const { type, name, pid, reason, at } of events) {
    const attributes = { app: baseName(name), name, pid, reason };
    const span: Span = tracer.startSpan(type, { attributes, startTime: at });
    span.end(at);
  }
}
