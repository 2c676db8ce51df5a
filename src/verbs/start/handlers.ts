/** `add` and `start`. */

import type { Outcome } from "../../manager/bulk.ts";
import { ProcsupError } from "../../model/errors.ts";
import { takenFromShell } from "../../process/environment.ts";
import { processJson } from "../../protocol/process_json.ts";
import type { Output } from "../../protocol/wire.ts";
import { keysIn } from "../../daemon/keys_in.ts";
import { type Handlers, results } from "../../daemon/verb_context.ts";
import type { START_VERBS } from "./rows.ts";

export const START_HANDLERS: Handlers<keyof typeof START_VERBS> = {
  async add({ supervisor }, { config, start, wait }) {
    const outcomes = await supervisor.add(await keysIn(config), { start, wait });
    // A new process has no usage yet, and reading it would scan the whole machine.
    const answer = await started(outcomes, ({ process }) => process.info());
    const { inherited } = supervisor.system.world;
    const from_shell = takenFromShell(inherited, outcomes[0]!.process.config);
    return { ...answer, ...from_shell.length > 0 && { from_shell } };
  },
  async start({ supervisor }, { target, wait }) {
    const outcomes = await supervisor.start(target, { wait });
    return await started(outcomes, ({ process }) => supervisor.info(process));
  },
};

function started(
  outcomes: readonly Outcome[],
  infoOf: (first: Outcome) => Parameters<typeof processJson>[0],
): Output<"start"> {
  const [first] = outcomes;
  if (first === undefined) {
    throw new ProcsupError("process_not_found", "process not found", {
      hint: {
        text: "There is no process yet; make one",
        command: { verb: "start", target: "<script>" },
      },
    });
  }
  return { ...processJson(infoOf(first)), results: results(outcomes) };
}
