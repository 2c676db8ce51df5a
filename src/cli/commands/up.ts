/** `procsup up` and `procsup down`: the apps of configuration files. */

import { ERROR_TABLE } from "../../model/errors.ts";
import { baseName } from "../../model/name.ts";
import type { ActionResult } from "../../protocol/wire.ts";
import type { CommandContext } from "../command.ts";
import { filesOf, refuseAppFlags } from "../config_source.ts";
import { connect, withDaemonStarted } from "../connect.ts";
import { writeMessage } from "../output.ts";
import { settingText } from "../plan_text.ts";
import { withProcesses } from "../progress.ts";
import { printResults } from "../results.ts";

/** Starts all apps of the files; `start` calls it. */
export async function up(context: CommandContext, words: readonly string[]): Promise<number> {
  refuseAppFlags(context);
  const { files, payload } = await filesOf(context, words);
  const wait = !context.flags.on("no-wait");
  const data = await withDaemonStarted(
    context,
    () =>
      withProcesses(
        context,
        () => connect(context).call("start_all", { ...payload, config: files, wait }),
      ),
  );
  const code = reportErrors(data);
  for (const setting of data.settings) {
    if (!["added", "changed"].includes(setting.change)) continue;
    context.output.note(`${setting.name}: ${settingText(setting)}`);
  }
  const { results, errors } = data;
  const told = new Set(results.map(({ name }) => baseName(name)));
  const quiet = data.changed.filter((name) => !told.has(name));
  for (const name of quiet) context.output.note(`${name}: changed, without a restart`);
  const answer = { status: "started", results, ...(code === 0 ? {} : { errors }) };
  const isDone = code === 0 && quiet.length === 0;
  const none = isDone ? "nothing to do: everything is up to date" : "";
  return Math.max(code, await printResults(context.output, answer, none));
}

/** Prints the errors that are in no result, and returns the exit code. */
export function reportErrors(
  { errors, results }: {
    readonly errors: readonly string[];
    readonly results: readonly ActionResult[];
  },
): number {
  const told = new Set(results.map(({ error }) => error));
  for (const error of errors) {
    if (!told.has(error)) writeMessage(`error: ${error}\n`);
  }
  return errors.length === 0 ? 0 : ERROR_TABLE.start_failed.exit;
}

/** Deletes the apps of the files, dependents first. The daemon keeps running. */
export async function down(context: CommandContext): Promise<number> {
  const { files, payload } = await filesOf(context, context.positionals, true);
  const request = { ...payload, config_path: files };
  const client = connect(context);
  const answer = await withProcesses(context, () => client.call("config_delete", request));
  return await printResults(context.output, answer, "nothing to do: none of its apps exists");
}
