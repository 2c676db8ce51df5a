/** The verb on alerts. */

import * as z from "zod/mini";
import { about, nothing, time } from "../shapes.ts";
import { verb } from "../verb.ts";

/** An alert, and where it stands. */
export const alert = z.object({
  name: about(z.string(), "Name of the process; `.host` for an alert of the host"),
  when: about(z.string(), "Its condition"),
  state: about(
    z.enum(["ok", "pending", "firing"]),
    "pending: the condition holds, but not for its time yet",
  ),
  since: about(z.nullable(time), "Since when it is pending or fires"),
  value: about(z.string(), "The value at the last measurement; empty if unknown"),
});

export const ALERT_VERBS = {
  alerts: verb({
    help: "All alerts, and where they stand",
    role: "read",
    reach: "apps",
    input: nothing,
    output: z.array(alert),
    rest: [{ method: "GET", path: "/alerts", answers: "AlertList" }],
    mcp: {
      tool: "list_alerts",
      toolset: "diagnose",
      title: "List alerts",
      description: "List the alerts of apps, jobs and the host, and which of them fire.",
      input: z.strictObject({}),
      idempotent: true,
    },
  }),
};
