/**
 * Durations of tasks on the page's main thread, in CPU time, which does not depend on other load.
 */

import type { CDPSession, Page } from "playwright-core";

interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  /** CPU time in microseconds. */
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

/** CPU time of a task, in milliseconds. */
export interface CpuTime {
  /** The longest task, which blocked the page for that time. */
  readonly longest: number;
  readonly total: number;
}

/** Traces the main thread during an action. */
export async function cpuOf(page: Page, work: () => Promise<void>): Promise<CpuTime> {
  const session = await page.context().newCDPSession(page);
  const events: TraceEvent[] = [];
  session.on("Tracing.dataCollected", ({ value }) => {
    events.push(...value as unknown as TraceEvent[]);
  });
  await session.send("Tracing.start", {
    transferMode: "ReportEvents",
    traceConfig: { includedCategories: ["disabled-by-default-devtools.timeline", "__metadata"] },
  });
  try {
    await work();
  } finally {
    await endOf(session);
  }
  const isMain = new Set(
    events.filter(({ name, args }) => name === "thread_name" && args?.name === "CrRendererMain")
      .map(threadOf),
  );
  const tasks = events.filter((event) => event.name === "RunTask" && isMain.has(threadOf(event)))
    .map(({ tdur = 0 }) => tdur / 1000);
  return { longest: Math.max(0, ...tasks), total: tasks.reduce((sum, ms) => sum + ms, 0) };
}

async function endOf(session: CDPSession): Promise<void> {
  const complete = new Promise((resolve) => session.once("Tracing.tracingComplete", resolve));
  await session.send("Tracing.end");
  await complete;
  await session.detach();
}

function threadOf({ pid, tid }: TraceEvent): string {
  return `${pid} ${tid}`;
}
