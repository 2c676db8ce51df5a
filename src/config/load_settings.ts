/** Loads `web` and `webhooks` of configuration files. */

import { parseWeb, parseWebhook } from "../model/config_schema.ts";
import { didYouMean, nearestWord } from "../model/nearest_word.ts";
import type { ProcsupError } from "../model/errors.ts";
import type { KeyTable } from "../model/key_table.ts";
import type { WebSettings } from "../model/listen_address.ts";
import { WEB_KEYS, WEBHOOK_KEYS } from "../model/settings_keys.ts";
import type { Webhook } from "../model/webhook.ts";
import { dirname } from "../npm/path.js";
import { placeIn } from "./document.ts";
import { type FileParts, RUN_KEYS } from "./file_shape.ts";
import { checked, type Layer, type LayerContext, preparedKeys } from "./layer.ts";
import { ConfigProblem } from "./problem.ts";

/** The daemon's settings in the files; undefined if no file has them. */
export interface LoadedSettings {
  readonly web?: WebSettings;
  readonly webhooks?: readonly Webhook[];
}

/** Loads the settings. Later parts override earlier ones. Adds mistakes to `context.problems`. */
export function loadSettings(parts: readonly FileParts[], context: LayerContext): LoadedSettings {
  const web = parts.flatMap((part) => part.web ?? []);
  const lists = parts.flatMap((part) => part.webhooks ?? []);
  const listens = web.length === 0
    ? undefined
    : checked(() => parseWeb(merged(web, context, WEB_KEYS)), web, context.problems);
  if (lists.length === 0) return listens === undefined ? {} : { web: listens };
  const names = new Set(lists.flatMap((list) => [...list.keys()]));
  const webhooks = [...names].flatMap((name) => {
    const layers = lists.flatMap((list) => list.get(name) ?? []);
    const cwd = dirname(layers.at(-1)!.document.file);
    const wire = { ...merged(layers, context, WEBHOOK_KEYS), name };
    return checked(() => parseWebhook(wire, cwd), layers, context.problems) ?? [];
  });
  return { ...(listens === undefined ? {} : { web: listens }), webhooks };
}

function merged(
  layers: readonly Layer[],
  context: LayerContext,
  table: KeyTable,
): Record<string, unknown> {
  const all = layers.map((layer) => {
    const keys = Object.entries(preparedKeys(layer, context, table));
    return Object.fromEntries(keys.filter(([, value]) => value !== null));
  });
  return Object.assign({}, ...all);
}

/** Names of processes that end `procsup run` before all processes have ended. */
export interface RunSettings {
  /** Processes whose final exit ends it. */
  readonly critical: readonly string[];
  /** Processes whose failure ends it. */
  readonly exitOnFailure: readonly string[];
}

/**
 * The names under each key of `run`, from the last part that has the key. Adds mistakes, such as names
 * that are not in `names`, to `problems`.
 */
export function loadRun(
  parts: readonly FileParts[],
  names: ReadonlySet<string>,
  problems: ProcsupError[],
): RunSettings {
  const layers = parts.flatMap(({ run }) => run ?? []);
  const [critical, exitOnFailure] = RUN_KEYS.map((key) => {
    const layer = layers.findLast(({ value }) => (value[key] ?? null) !== null);
    if (layer === undefined) return [];
    const given = layer.value[key];
    const list: readonly unknown[] = Array.isArray(given) ? given : [given];
    list.forEach((name, index) => {
      if (names.has(name as string)) return;
      const path = Array.isArray(given) ? [key, index] : [key];
      problems.push(unknownName(layer, path, name, names));
    });
    return list as readonly string[];
  });
  return { critical: critical!, exitOnFailure: exitOnFailure! };
}

function unknownName(
  { document, path }: Layer,
  at: readonly (string | number)[],
  name: unknown,
  names: ReadonlySet<string>,
): ConfigProblem {
  const place = placeIn(document, [...path, ...at]);
  const near = typeof name === "string" ? nearestWord(name, names) : undefined;
  const what = `"run.${at[0]}" names ${JSON.stringify(name)}, which is not in the file`;
  return new ConfigProblem(document.file, what, { place, advice: near && didYouMean(near) });
}
