/** `procsup config`, `up` and `down`: the apps of configuration files. */

import type { LoadedConfig, LoadedSettings } from "../../config/load_config.ts";
import { throwProblems } from "../../config/problem.ts";
import { ERROR_TABLE, hasCode } from "../../model/errors.ts";
import { onlyGiven } from "../../model/merge_patch.ts";
import { baseName } from "../../model/name.ts";
import { plainText } from "../../model/plain_text.ts";
import { masked } from "../../model/secret_values.ts";
import { shownUrl } from "../../model/webhook.ts";
import { here } from "../../platform/files/paths.ts";
import type {
  ConfigChangeJson,
  ConfigReloadResult,
  SettingChangeJson,
} from "../../protocol/wire.ts";
import type { CommandContext } from "../command.ts";
import { filesOf, readSource, refuseAppFlags, shellOf } from "../config_source.ts";
import { connect, withDaemonStarted } from "../connect.ts";
import { counted } from "../human.ts";
import { printData, writeMessage } from "../output.ts";
import { withProcesses } from "../progress.ts";
import { hintLine } from "../report_error.ts";
import { noteFromShell, printFailures, printResults } from "../results.ts";
import { refuseMore, verbIn } from "../unknown_word.ts";

/** Starts all apps of the files; `start` calls it. */
export async function up(context: CommandContext, words: readonly string[]): Promise<number> {
  refuseAppFlags(context);
  const { files, payload } = await filesOf(context, words);
  const wait = !context.flags.on("no-wait");
  const request = { ...payload, ...shellOf(context), config: files, wait };
  const act = () => connect(context).call("start_all", request);
  const data = await withDaemonStarted(context, () => withProcesses(context, act));
  const code = reportErrors(data);
  for (const setting of data.settings) {
    if (!["added", "changed"].includes(setting.change)) continue;
    context.output.note(`${setting.name}: ${settingText(setting)}`);
  }
  const { results, errors } = data;
  const reported = new Set(results.map(({ name }) => baseName(name)));
  const quiet = data.changed.filter((name) => !reported.has(name));
  for (const name of quiet) context.output.note(`${name}: changed, without a restart`);
  const answer = { status: "started", results, ...(code === 0 ? {} : { errors }) };
  noteFromShell(context, data.from_shell);
  const isDone = code === 0 && quiet.length === 0;
  const none = isDone ? "nothing to do: everything is up to date" : "";
  return Math.max(code, await printResults(context.output, answer, none));
}

/** Prints the errors that are in no result, and returns the exit code. */
function reportErrors({ errors, results }: Pick<ConfigReloadResult, "errors" | "results">): number {
  const reported = new Set(results.map(({ error }) => error));
  for (const error of errors) {
    if (!reported.has(error)) writeMessage(`error: ${error}\n`);
  }
  return errors.length === 0 ? 0 : ERROR_TABLE.start_failed.exit;
}

/** Deletes the apps of the files, dependents first. The daemon keeps running. */
export async function down(context: CommandContext): Promise<number> {
  const { files, payload } = await filesOf(context, context.positionals, {
    elsewhere: true,
    removes: true,
  });
  const request = { ...payload, config_path: files };
  const client = connect(context);
  const answer = await withProcesses(context, () => client.call("config_delete", request));
  return await printResults(context.output, answer, "nothing to do: none of its apps exists");
}

/** Runs the verb that the first word names. */
export async function config(context: CommandContext): Promise<number | void> {
  const [verb = "", ...words] = context.positionals;
  const act = verbIn("config", { validate, plan, apply, reload, schema, show }, verb);
  return await act(context, words);
}

/** What `--only` selects of the files. A selection of processes leaves the daemon's settings alone. */
async function selected(
  { flags }: CommandContext,
  { processes, settings }: LoadedConfig,
): Promise<Pick<LoadedConfig, "processes" | "settings">> {
  const { onlyWords, selectProcesses } = await import("../../config/select.ts");
  const only = onlyWords(flags.text("only"));
  return {
    processes: selectProcesses(processes, only),
    settings: only === undefined ? settings : {},
  };
}

/** Validates the files. Throws all problems with their places. */
async function validate(context: CommandContext, words: readonly string[]): Promise<void> {
  const cwd = here();
  const { files, loaded } = await readSource(context, words);
  const chosen = await selected(context, loaded);
  const warnings = await refuseProblems(context, { files, ...chosen });
  const names = chosen.processes.map(({ config }) => config.name);
  const value = { valid: true, files, processes: names, warnings };
  if (await printData(context.output, value, names)) return;
  const shown = files.map((file) => file.replace(`${cwd}/`, "")).join(", ");
  context.output.done(`✔ ${shown}  ${counted(names.length, "process", "processes")}, no mistake`);
}

/**
 * Throws what would keep processes of the files from starting. Prints what only this environment may
 * lack, and returns it.
 */
async function refuseProblems(
  { flags, home, output }: CommandContext,
  loaded: Pick<LoadedConfig, "files" | "processes" | "settings">,
): Promise<string[]> {
  if (flags.on("no-files")) return [];
  const { findingsIn } = await import("../../daemon/check_files.ts");
  const { problems, warnings } = await findingsIn(loaded, home);
  throwProblems(problems);
  for (const { message, hint } of warnings) {
    output.note(`warning: ${message}${hint === undefined ? "" : `\n${hintLine(hint)}`}`);
  }
  return warnings.map(({ message }) => message);
}

/** Prints the plan; nothing is changed. */
async function plan(context: CommandContext, words: readonly string[]): Promise<void> {
  const source = context.host === undefined ? await readSource(context, words) : undefined;
  const { files, payload } = source ?? await filesOf(context, words);
  const prune = context.flags.on("prune");
  const request = { ...payload, ...shellOf(context), config_path: files, dry_run: true, prune };
  const data = await connect(context).call("config_reload", request)
    .catch((error) => planWithoutDaemon(context, source?.loaded, error));
  await printPlan(context, data);
}

/** The plan without a daemon: everything is new. Rethrows other errors. */
async function planWithoutDaemon(
  context: CommandContext,
  loaded: LoadedConfig | undefined,
  error: unknown,
): Promise<ConfigReloadResult> {
  const isAbsent = hasCode(error, "daemon_unreachable");
  if (!isAbsent || loaded === undefined) throw error;
  const { processes, settings } = await selected(context, loaded);
  await refuseProblems(context, { files: loaded.files, processes, settings });
  const names = Object.keys(settings) as (keyof LoadedSettings)[];
  context.output.note("no daemon is running: everything is new");
  return {
    ...{ status: "planned", changed: [], removed: [], kept: [], unchanged: [] },
    ...{ errors: [], changes: [], results: [] },
    added: processes.map(({ config }) => config.name),
    settings: names.map((name) => ({ name, change: "added", fields: [] })),
  };
}

/** Prints planned or applied changes. */
async function printPlan({ output }: CommandContext, data: ConfigReloadResult): Promise<void> {
  if (await printData(output, data, [...data.added, ...data.changed, ...data.removed])) return;
  for (const line of planLines(data)) output.done(line);
}

/** Applies the files; with `--dry-run`, only prints the plan. */
async function apply(context: CommandContext, words: readonly string[]): Promise<number | void> {
  const { flags } = context;
  if (flags.on("dry-run")) return await plan(context, words);
  const { files, payload } = await filesOf(context, words);
  const data = await withDaemonStarted(context, () =>
    connect(context).call("config_reload", {
      ...payload,
      ...shellOf(context),
      ...{ config_path: files, prune: flags.on("prune"), wait: !flags.on("no-wait") },
    }));
  return await printApplied(context, data);
}

/** Prints the applied changes and the failures. */
async function printApplied(context: CommandContext, data: ConfigReloadResult): Promise<number> {
  await printPlan(context, data);
  noteFromShell(context, data.from_shell);
  await noteFailed(context, data.unchanged);
  return Math.max(reportErrors(data), printFailures(data.results));
}

/** Notes unchanged apps that had failed before: applying does not start them again. */
async function noteFailed(context: CommandContext, unchanged: readonly string[]): Promise<void> {
  if (unchanged.length === 0 || !context.output.isForPeople) return;
  const names = new Set(unchanged);
  const failed = (await connect(context).call("list")).filter(({ name, state }) =>
    names.has(baseName(name)) && (state === "errored" || state === "crashed")
  );
  for (const { name, state } of failed) {
    context.output.note(`${name} is ${state}: procsup why ${name}, procsup start ${name}`);
  }
}

/** Makes the daemon read its files again. Named files are applied. */
async function reload(context: CommandContext, words: readonly string[]): Promise<number | void> {
  if (words.length > 0) return await apply(context, words);
  const { flags } = context;
  const data = await connect(context).call("config_reload", {
    dry_run: flags.on("dry-run"),
    prune: flags.on("prune"),
    wait: !flags.on("no-wait"),
    only: flags.text("only"),
    profile: flags.text("profile"),
  });
  if (data.status !== "planned") return await printApplied(context, data);
  await printPlan(context, data);
}

/** Prints the processes of the files, with masked environment values. */
async function show(context: CommandContext, words: readonly string[]): Promise<void> {
  const { loaded } = await readSource(context, words);
  const { processes, settings } = await selected(context, loaded);
  const names = processes.map(({ config }) => config.name);
  const value = {
    ...await shownSettings(settings),
    processes: processes.map(({ wire: { name, ...keys } }) => ({ name, ...masked(keys) })),
  };
  if (await printData(context.output, value, names)) return;
  context.output.data((await import("../../model/yaml.ts")).yaml(value));
}

/** Prints the JSON schema. */
async function schema({ output }: CommandContext, words: readonly string[]): Promise<void> {
  refuseMore("config schema", words, 0);
  const { configFileSchema } = await import("../../config/json_schema.ts");
  output.json(configFileSchema(), 2);
}

/** The settings with all defaults and without secret parts of URLs. */
async function shownSettings({ web, webhooks, alerts }: LoadedSettings): Promise<object> {
  const { alertsWire, webhookWire } = await import("../../model/config_schema.ts");
  return onlyGiven({
    web,
    webhooks: webhooks?.map((webhook) => ({ ...webhookWire(webhook), url: shownUrl(webhook.url) })),
    ...alerts && alertsWire(alerts),
  });
}

const KEPT = "not in file (kept; use --prune to remove)";

const SIGNS: Readonly<Record<SettingChangeJson["change"], string>> = {
  added: "+",
  changed: "~",
  unchanged: "=",
  removed: "-",
  kept: "-",
};

/** Describes the change of a daemon setting. */
function settingText({ change, fields }: SettingChangeJson): string {
  if (change === "removed") return "removed";
  return change === "kept" ? KEPT : fields.map(fieldText).join(", ");
}

/** The lines of a plan; unchanged processes are counted at the end. */
function planLines(result: ConfigReloadResult): string[] {
  const settings = result.settings.filter(({ change }) => change !== "unchanged");
  const names = [...result.changed, ...result.added, ...result.removed, ...result.kept]
    .concat(settings.map(({ name }) => name));
  const width = Math.max(0, ...names.map((name) => name.length));
  const line = (sign: string, name: string, text: string) =>
    plainText(`${sign} ${name.padEnd(width)}  ${text}`.trimEnd());
  return [
    ...settings.map((setting) => line(SIGNS[setting.change], setting.name, settingText(setting))),
    ...result.changes.map((change) => line("~", change.name, changeText(change))),
    ...result.added.map((name) => line("+", name, "new")),
    ...result.removed.map((name) => line("-", name, "removed")),
    ...result.kept.map((name) => line("-", name, KEPT)),
    ...(result.unchanged.length > 0 ? [`= ${result.unchanged.length} unchanged`] : []),
  ];
}

function changeText({ fields, restart, rolling, stop, start }: ConfigChangeJson): string {
  const resting = stop ? "stop, its schedule starts it" : start ? "start" : "no restart";
  const running = restart ? "restart" : resting;
  const how = rolling ? "rolling reload" : running;
  return `${fields.map(fieldText).join(", ")}   (${how})`;
}

function fieldText({ field, from, to }: ConfigChangeJson["fields"][number]): string {
  if (from === undefined && to === undefined) return `${field} changed`;
  if (from === undefined) return `${field} set to ${short(to)}`;
  if (to === undefined) return `${field} no longer set`;
  return `${field} ${short(from)} → ${short(to)}`;
}

function short(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}
