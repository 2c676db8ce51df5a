/** The verb on alerts. */

import * as z from "zod/mini";
import { about, nothing, time } from "../shapes.ts";
import { verb } from "../verb.ts";

/** An alert with its state. */
export const alert = z.object({
  name: about(z.string(), "Name of the process; `.host` for an alert of the host"),
  when: about(z.string(), "Its condition"),
  state: about(
    z.enum(["ok", "pending", "firing"]),
    "pending: the condition holds, but not yet for its time",
  ),
  since: about(z.nullable(time), "When it became pending or began to fire; null if neither"),
  value: about(z.string(), "The value at the last measurement; empty if unknown"),
});

export const ALERT_VERBS = {
  alerts: verb({
    help: "All alerts with their states",
    role: "read",
    reach: "apps",
    input: nothing,
    output: z.array(alert),
    rest: [{ method: "GET", path: "/alerts", answers: "AlertList" }],
    mcp: {
      tool: "list_alerts",
      toolset: "diagnose",
      title: "List alerts",
      description: "List the alerts of apps, jobs and the host with their states.",
      input: z.strictObject({}),
      idempotent: true,
    },
  }),
};
