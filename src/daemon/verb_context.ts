/** Types and results of the implementations of verbs. */

import { isJob, type Outcome } from "../manager/bulk.ts";
import { takenPortHint } from "../manager/last_words.ts";
import type { Supervisor } from "../manager/supervisor.ts";
import type { CopiesOn, EngineCopy } from "../contexts/all_contexts.ts";
import type { HomePaths } from "../platform/files/paths.ts";
import type { HookOrigin } from "../process/process_requests.ts";
import { statusFor } from "../protocol/envelope.ts";
import type { BulkResult, Input, Output, ProcessResult, VerbName } from "../protocol/wire.ts";
import { actorOf, type Principal } from "../auth/gatekeeper.ts";
import type { Alerts } from "./alerts.ts";
import type { ConfigFiles } from "./config_files.ts";
import type { EventJournal } from "./event_journal.ts";
import type { ShutdownNotice } from "../protocol/shutdown_notice.ts";
import type { MetricsHistory } from "./metrics_history.ts";
import type { ReadLimits } from "./read_limits.ts";
import type { Token } from "./token.ts";
import type { WebListener } from "./web_listener.ts";
import type { Webhooks } from "./webhooks/webhooks.ts";

/** The parts of the daemon that verbs use. */
export interface VerbContext {
  readonly supervisor: Supervisor;
  readonly paths: HomePaths;
  readonly token: Token;
  /** The configuration files that were applied. */
  readonly configs: ConfigFiles;
  readonly web: WebListener;
  readonly webhooks: Webhooks;
  readonly alerts: Alerts;
  /** Past events. */
  readonly journal: EventJournal;
  /** Past resource usage of processes and of the host. */
  readonly history: MetricsHistory;
  readonly shutdownNotice: ShutdownNotice;
  readonly limits: ReadLimits;
  /** The daemon's log. */
  readonly log: { info(message: string): void };
  /** Sender of the request; undefined for the daemon itself. */
  readonly by?: Principal | undefined;
  /** The hook that sent the request; undefined if none did. */
  readonly askedIn?: HookOrigin | undefined;
  /** Asks an engine of the contexts file. */
  readonly copiesOn: CopiesOn<EngineCopy>;
  /** Ends the daemon once the answer has been sent. */
  readonly endDaemon: () => void;
}

/** Who asks for a change, for its record. */
export function asking({ by }: Pick<VerbContext, "by">): { readonly by?: string } {
  return by === undefined ? {} : { by: actorOf(by) };
}

/** Implementations by verb. Their input has been validated. */
export type Handlers<N extends VerbName = VerbName> = {
  readonly [K in N]: (context: VerbContext, input: Input<K>) => Output<K> | Promise<Output<K>>;
};

/** The result for each process, with the last output of those that failed. */
export function results(outcomes: readonly Outcome[]): ProcessResult[] {
  return outcomes.map(({ process, error, lastWords: words }) => {
    const { state, pid } = process.snapshot;
    const { isLeaving } = process;
    const who = {
      ...{ name: process.name, id: process.identity.id.slice(0, 8), state, pid },
      ...isLeaving && { deleted: true },
    };
    if (error === undefined) {
      return { ...who, ok: true, ...!isLeaving && isJob(process) && { scheduled: true } };
    }
    const { errorLine: error_line, lastOutput: last_output } = words ?? { lastOutput: [] };
    const { message, code } = error;
    const hint = (words && takenPortHint(process, words)) ?? error.hint;
    return { ...who, ok: false, error: message, code, error_line, last_output, hint };
  });
}

/** The answer of a verb that acts on several processes. */
export function bulkResult(status: string, outcomes: readonly Outcome[]): BulkResult {
  const all = results(outcomes);
  return { status: statusFor(status, all), results: all };
}
