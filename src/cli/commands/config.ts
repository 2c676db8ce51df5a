/** `procsup config`, `up` and `down`: the apps of configuration files. */

import type { LoadedConfig, LoadedSettings } from "../../config/load_config.ts";
import { throwProblems } from "../../config/problem.ts";
import { discover } from "../../config/file_kind.ts";
import { ERROR_TABLE, hasCode, ProcsupError } from "../../model/errors.ts";
import { onlyGiven } from "../../model/merge_patch.ts";
import { baseName } from "../../model/name.ts";
import { plainText } from "../../model/plain_text.ts";
import { masked } from "../../model/secret_values.ts";
import { shownUrl } from "../../model/webhook.ts";
import { here } from "../../platform/files/paths.ts";
import type {
  ConfigChangeJson,
  ConfigReloadPayload,
  ConfigReloadResult,
  SettingChangeJson,
} from "../../protocol/wire.ts";
import type { CommandContext } from "../command.ts";
import {
  filesOf,
  hintForFolder,
  profileOf,
  readSource,
  refuseAppFlags,
  shellOf,
} from "../config_source.ts";
import { connect, withDaemonStarted } from "../connect.ts";
import { counted } from "../human.ts";
import { printData, writeMessage } from "../output.ts";
import { withProcesses } from "../progress.ts";
import { hintLine } from "../report_error.ts";
import { noteFromShell, printResults } from "../results.ts";
import { refuseMore, verbIn } from "../unknown_word.ts";

/**
 * Makes the daemon match the files, and starts what is down; `start` calls it, too. Without files it
 * takes the one of this folder, otherwise those that the daemon applied last.
 */
export async function up(
  context: CommandContext,
  words = context.positionals,
): Promise<number | void> {
  refuseAppFlags(context);
  const { flags, output } = context;
  if (flags.on("dry-run")) return await plan(context, words);
  const files = await namedFiles(context, words);
  const request = {
    ...files.payload,
    ...{ prune: flags.on("prune"), start: !flags.on("keep-stopped"), wait: !flags.on("no-wait") },
  };
  const act = () => connect(context).call("config_reload", request);
  const data = await files.daemonFor(() => withProcesses(context, act));
  const code = reportErrors(data);
  for (const setting of data.settings) {
    if (isDifferent(setting)) output.note(`${setting.name}: ${settingText(setting)}`);
  }
  const { results } = data;
  const reported = new Set(results.map(({ name }) => baseName(name)));
  const quiet = data.changed.filter((name) => !reported.has(name));
  for (const name of quiet) output.note(`${name}: changed, without a restart`);
  for (const name of data.kept) output.note(`${name}: ${KEPT}`);
  noteFromShell(context, data.from_shell);
  if (flags.on("keep-stopped")) await noteFailed(context, data.unchanged);
  const isDone = code === 0 && quiet.length === 0 && !data.settings.some(isDifferent);
  const none = isDone ? "nothing to do: everything is up to date" : "";
  return Math.max(code, await printResults(output, { ...data, status: "started" }, none));
}

/** The files of a request, and how to reach a daemon with them. */
interface NamedFiles {
  readonly payload: ConfigReloadPayload;
  readonly loaded?: LoadedConfig;
  daemonFor<T>(act: () => Promise<T>): Promise<T>;
}

/** The named files, or the one of this folder; otherwise those that the daemon applied last. */
async function namedFiles(
  context: CommandContext,
  words: readonly string[],
): Promise<NamedFiles> {
  const { flags, host } = context;
  const isLast = flags.on("last");
  if (isLast && words.length > 0) {
    throw new ProcsupError("bad_request", "Cannot use --last with a file");
  }
  if (isLast || (words.length === 0 && (host !== undefined || discover(here()) === undefined))) {
    const only = flags.text("only");
    return {
      // A reload keeps the environment of the apps, unless it is to be replaced.
      payload: {
        ...flags.on("update-env") && shellOf(context),
        ...onlyGiven({ only, profile: profileOf(context) }),
      },
      daemonFor: (act) => act().catch((error) => refuseNoFile(context, error)),
    };
  }
  const source = await filesOf(context, words);
  const payload = { ...source.payload, ...shellOf(context), config_path: [...source.files] };
  return { ...source, payload, daemonFor: (act) => withDaemonStarted(context, act) };
}

/** Without a daemon, the folder lacks a file, unless only its last ones were asked for. */
function refuseNoFile({ flags }: CommandContext, error: unknown): never {
  if (flags.on("last") || !hasCode(error, "daemon_unreachable")) throw error;
  throw new ProcsupError("bad_request", `No procsup.yaml in "${here()}"`, {
    hint: hintForFolder(here()),
  });
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
  const act = verbIn("config", { validate, plan, schema, show }, verb);
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

/** Prints what `up` would do; nothing is changed. */
async function plan(context: CommandContext, words: readonly string[]): Promise<void> {
  const { flags } = context;
  const { payload, loaded } = await namedFiles(context, words);
  const start = !flags.on("keep-stopped");
  const request = { ...payload, dry_run: true, prune: flags.on("prune"), start };
  const data = await connect(context).call("config_reload", request)
    .catch((error) => planWithoutDaemon(context, loaded, error));
  if (await printData(context.output, data, [...data.added, ...data.changed, ...data.removed])) {
    return;
  }
  for (const line of planLines(data)) context.output.done(line);
}

/** The plan without a daemon: everything is new. Rethrows other errors. */
async function planWithoutDaemon(
  context: CommandContext,
  loaded: LoadedConfig | undefined,
  error: unknown,
): Promise<ConfigReloadResult> {
  if (loaded === undefined) return refuseNoFile(context, error);
  if (!hasCode(error, "daemon_unreachable")) throw error;
  const { refusePartialPrune } = await import("../../config/select.ts");
  refusePartialPrune({ prune: context.flags.on("prune"), only: context.flags.text("only") });
  const { processes, settings } = await selected(context, loaded);
  await refuseProblems(context, { files: loaded.files, processes, settings });
  const names = Object.keys(settings) as (keyof LoadedSettings)[];
  context.output.note("no daemon is running: everything is new");
  return {
    ...{ status: "planned", changed: [], removed: [], kept: [], unchanged: [], stopped: [] },
    ...{ errors: [], changes: [], results: [] },
    added: processes.map(({ config }) => config.name),
    settings: names.map((name) => ({ name, change: "added", fields: [] })),
  };
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

function isDifferent({ change }: SettingChangeJson): boolean {
  return change !== "unchanged";
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
  const settings = result.settings.filter(isDifferent);
  const names = [...result.changed, ...result.added, ...result.removed]
    .concat(result.kept, result.stopped)
    .concat(settings.map(({ name }) => name));
  const width = Math.max(0, ...names.map((name) => name.length));
  const line = (sign: string, name: string, text: string) =>
    plainText(`${sign} ${name.padEnd(width)}  ${text}`.trimEnd());
  return [
    ...settings.map((setting) => line(SIGNS[setting.change], setting.name, settingText(setting))),
    ...result.changes.map((change) => line("~", change.name, changeText(change))),
    ...result.added.map((name) => line("+", name, "new")),
    ...result.stopped.map((name) => line("+", name, "start")),
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
