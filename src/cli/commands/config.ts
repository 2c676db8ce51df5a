/** `procsup config <verb>`: configuration files. */

import type { LoadedConfig } from "../../config/load_config.ts";
import type { LoadedSettings } from "../../config/load_settings.ts";
import { throwProblems } from "../../config/problem.ts";
import { hasCode } from "../../model/errors.ts";
import { baseName } from "../../model/name.ts";
import { webhookWire } from "../../model/config_schema.ts";
import { masked } from "../../model/secret_values.ts";
import { shownUrl } from "../../model/webhook.ts";
import { here } from "../../platform/paths.ts";
import type { ConfigReloadResult } from "../../protocol/wire.ts";
import { reportErrors } from "./up.ts";
import type { CommandContext } from "../command.ts";
import { filesOf, readSource } from "../config_source.ts";
import { connect, withDaemonStarted } from "../connect.ts";
import { counted } from "../human.ts";
import { planLines } from "../plan_text.ts";
import { printData } from "../print_data.ts";
import { printFailures } from "../results.ts";
import { refuseMore, verbIn } from "../unknown_word.ts";

type Verb = (context: CommandContext, words: readonly string[]) => Promise<number | void>;

const VERBS: Readonly<Record<string, Verb>> = {
  validate: configValidate,
  plan: configPlan,
  apply: configApply,
  reload: configReload,
  schema: configSchema,
  show: configShow,
};

/** Runs the verb that the first word names. */
export async function config(context: CommandContext): Promise<number | void> {
  const [verb = "", ...words] = context.positionals;
  return await verbIn("config", VERBS, verb)(context, words);
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
    settings: only.length === 0 ? settings : {},
  };
}

/** Validates the files. Throws all problems with their places. */
async function configValidate(context: CommandContext, words: readonly string[]): Promise<void> {
  const cwd = here();
  const { files, loaded } = await readSource(context, words);
  const { processes } = await selected(context, loaded);
  if (!context.flags.on("no-files")) {
    const { fileProblems, sharedProblems } = await import("../../config/check_files.ts");
    const path = Deno.env.get("PATH") ?? "";
    throwProblems([...sharedProblems(processes), ...fileProblems(processes, path)]);
  }
  const names = processes.map(({ config }) => config.name);
  if (await printData(context.output, { valid: true, files, processes: names }, names)) return;
  const shown = files.map((file) => file.replace(`${cwd}/`, "")).join(", ");
  context.output.done(`✔ ${shown}  ${counted(names.length, "process", "processes")}, no mistake`);
}

/** Prints the plan; nothing is changed. */
async function configPlan(context: CommandContext, words: readonly string[]): Promise<void> {
  const source = context.host === undefined ? await readSource(context, words) : undefined;
  const { files, payload } = source ?? await filesOf(context, words);
  const prune = context.flags.on("prune");
  const request = { ...payload, ...{ config_path: files, dry_run: true, prune } };
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
async function configApply(
  context: CommandContext,
  words: readonly string[],
): Promise<number | void> {
  const { flags } = context;
  if (flags.on("dry-run")) return await configPlan(context, words);
  const { files, payload } = await filesOf(context, words);
  const data = await withDaemonStarted(context, () =>
    connect(context).call("config_reload", {
      ...payload,
      ...{ config_path: files, prune: flags.on("prune"), wait: !flags.on("no-wait") },
    }));
  return await printApplied(context, data);
}

/** Prints the applied changes and the failures. */
async function printApplied(context: CommandContext, data: ConfigReloadResult): Promise<number> {
  await printPlan(context, data);
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
async function configReload(
  context: CommandContext,
  words: readonly string[],
): Promise<number | void> {
  if (words.length > 0) return await configApply(context, words);
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
async function configShow(context: CommandContext, words: readonly string[]): Promise<void> {
  const { loaded } = await readSource(context, words);
  const { processes, settings } = await selected(context, loaded);
  const names = processes.map(({ config }) => config.name);
  const value = {
    ...shownSettings(settings),
    processes: processes.map(({ wire: { name, ...keys } }) => ({ name, ...masked(keys) })),
  };
  if (await printData(context.output, value, names)) return;
  context.output.data((await import("../../model/yaml.ts")).yaml(value));
}

/** Prints the JSON schema. */
async function configSchema(
  { output }: CommandContext,
  words: readonly string[],
): Promise<void> {
  refuseMore("config schema", words, 0);
  const { configFileSchema } = await import("../../config/json_schema.ts");
  output.json(configFileSchema(), 2);
}

/** `web` and `webhooks` with all defaults and without secret parts of URLs. */
function shownSettings({ web, webhooks }: LoadedSettings): Record<string, unknown> {
  return {
    ...(web === undefined ? {} : { web }),
    ...(webhooks === undefined ? {} : {
      webhooks: webhooks.map((webhook) => ({
        ...webhookWire(webhook),
        url: shownUrl(webhook.url),
      })),
    }),
  };
}
