/** `web` and `webhooks` of configuration files: merged, filled in, checked. */

import { ConfigFieldError } from "../model/config_schema.ts";
import { messageOf } from "../model/errors.ts";
import type { WebSettings } from "../model/listen_address.ts";
import { parseWeb, parseWebhook } from "../model/settings_schema.ts";
import type { Webhook } from "../model/webhook.ts";
import { isMap, placeIn, valueAt } from "./document.ts";
import type { FileParts } from "./file_shape.ts";
import { filledText, folderOf, type Layer, type LayerContext, normal } from "./layer.ts";
import { ConfigProblem } from "./problem.ts";

/** What the files say about the daemon itself; undefined is what they say nothing about. */
export interface LoadedSettings {
  readonly web?: WebSettings;
  readonly webhooks?: readonly Webhook[];
}

/** The settings of all parts, the later laid over the earlier. What is wrong goes to `problems`. */
export function loadSettings(parts: readonly FileParts[], context: LayerContext): LoadedSettings {
  const web = parts.flatMap((part) => part.web ?? []);
  const lists = parts.flatMap((part) => part.webhooks ?? []);
  const listens = web.length === 0
    ? undefined
    : checked(web, context, () => parseWeb(merged(web, context)));
  if (lists.length === 0) return listens === undefined ? {} : { web: listens };
  const names = new Set(lists.flatMap((list) => [...list.keys()]));
  const webhooks = [...names].flatMap((name) => {
    const layers = lists.flatMap((list) => list.get(name) ?? []);
    const cwd = folderOf(layers.at(-1)!.document.file);
    const wire = { ...merged(layers, context), name };
    return checked(layers, context, () => parseWebhook(wire, cwd)) ?? [];
  });
  return { ...(listens === undefined ? {} : { web: listens }), webhooks };
}

function merged(layers: readonly Layer[], context: LayerContext): Record<string, unknown> {
  const all = layers.map((layer) => prepared(layer, context));
  return Object.assign({}, ...all);
}

/** Its texts filled in, and the files that it names against the file that it stands in. */
function prepared(layer: Layer, context: LayerContext): Record<string, unknown> {
  const filled = (key: string, value: unknown) => {
    if (key === "hosts" && Array.isArray(value)) {
      return value.map((host, index) => filledWord(host, [key, index], layer, context));
    }
    if (key === "url" || key === "listen") return filledWord(value, [key], layer, context);
    if (key === "tls" && isMap(value)) {
      return Object.fromEntries(
        Object.entries(value).map(([name, path]) => [
          name,
          typeof path === "string" ? normal(folderOf(layer.document.file), path) : path,
        ]),
      );
    }
    if (key !== "secret" || !isMap(value) || typeof value.file !== "string") return value;
    return { ...value, file: normal(folderOf(layer.document.file), value.file) };
  };
  return Object.fromEntries(
    Object.entries(layer.value).filter(([, value]) => value !== null)
      .map(([key, value]) => [key, filled(key, value)]),
  );
}

function filledWord(
  value: unknown,
  path: (string | number)[],
  layer: Layer,
  context: LayerContext,
): unknown {
  return typeof value === "string" ? filledText(value, path, layer, context) : value;
}

function checked<T>(
  layers: readonly Layer[],
  context: LayerContext,
  parse: () => T,
): T | undefined {
  try {
    return parse();
  } catch (error) {
    context.problems.push(located(error, layers));
    return undefined;
  }
}

/** The failure of a check, with the place of the layer that brought the value in. */
function located(error: unknown, layers: readonly Layer[]): ConfigProblem {
  const { path = [], onKey = false } = error instanceof ConfigFieldError ? error : {};
  const own = path.filter((part) => typeof part !== "symbol");
  const layer = layers.findLast(({ value }) => valueAt(value, own) !== undefined) ?? layers.at(-1)!;
  const { document, path: prefix } = layer;
  const place = placeIn(document, [...prefix, ...own], onKey ? "key" : "value");
  const what = messageOf(error).replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase());
  return new ConfigProblem(document.file, what, place === undefined ? {} : { place });
}
