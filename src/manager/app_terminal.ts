/** Standard input of apps, and their terminals. */

import { ProcsupError } from "../model/errors.ts";
import {
  inputPath,
  resizeTerminal,
  type TerminalSize,
  writeInput,
} from "../platform/launch/app_input.ts";
import { wrapperAlive } from "../platform/scan/process_group.ts";
import type { ManagedProcess } from "../process/managed_process.ts";
import { type Outcome, runBulk } from "./bulk.ts";
import type { Supervisor } from "./supervisor.ts";
import { commandHint, type Hint } from "../model/hint.ts";

/** Writes a text to the standard input of apps. */
export function sendText(supervisor: Supervisor, target: string, text: string): Promise<Outcome[]> {
  return runBulk(supervisor.directory.resolve(target), async (process) => {
    const { runId } = refuseAtRest(process, "send to");
    const { name, config: { stdin, tty } } = process;
    if (!stdin && !tty) {
      throw refusal(
        "send to",
        name,
        "its standard input is closed",
        commandHint("restart", name, { stdin: true }),
      );
    }
    const problem = await writeInput(inputPath(process.folder, runId), text);
    if (problem !== undefined) throw refusal("send to", name, problem);
  });
}

/** Sets the size of an app's terminal. Throws `wrong_state` if it has none. */
export function resizeApp(process: ManagedProcess, size: TerminalSize): void {
  const run = refuseAtRest(process, "attach to");
  const { name, config: { tty } } = process;
  if (!tty) {
    const hint = commandHint("restart", name, { tty: true });
    throw refusal("attach to", name, "it has no terminal", hint);
  }
  if (wrapperAlive(run)) resizeTerminal(run.wrapperPid, size);
}

function refuseAtRest({ name, snapshot: { run, pid } }: ManagedProcess, verb: string) {
  if (run !== null && pid > 0) return run;
  throw refusal(verb, name, "it is not running", commandHint("start", name));
}

function refusal(verb: string, name: string, why: string, hint?: Hint): ProcsupError {
  return new ProcsupError("wrong_state", `Cannot ${verb} "${name}": ${why}`, { hint });
}
