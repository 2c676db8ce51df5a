/** `alerts`: the alerts of apps, jobs and the host. */

import type { Handlers } from "../../daemon/verb_context.ts";
import type { ALERT_VERBS } from "./rows.ts";

export const ALERT_HANDLERS: Handlers<keyof typeof ALERT_VERBS> = {
  alerts: ({ alerts }) => alerts.list(),
};
