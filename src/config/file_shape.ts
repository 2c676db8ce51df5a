/** The parts of a configuration file: defaults, processes, cron jobs, profiles. */

import type { ProcsupError } from "../model/errors.ts";
import { isMap } from "../model/merge_patch.ts";
import { didYouMean, nearestWord } from "../model/nearest_word.ts";
import { CRON } from "../model/process_keys.ts";
import { type ConfigDocument, type Path, placeIn } from "./document.ts";
import type { Layer } from "./layer.ts";
import { ConfigProblem } from "./problem.ts";

export interface FileParts {
  /** Defaults of every process. */
  readonly defaults: readonly Layer[];
  readonly processes: ReadonlyMap<string, Layer>;
  readonly web?: Layer | undefined;
  /** Webhooks by name. */
  readonly webhooks?: ReadonlyMap<string, Layer> | undefined;
  /** The single key `alerts`: those of the host. */
  readonly alerts?: Layer | undefined;
  readonly run?: Layer | undefined;
}

const PROFILE_KEYS: readonly string[] = [
  ...["defaults", "secrets", "processes", "cron", "web", "webhooks", "alerts", "run"],
];

const FILE_KEYS: readonly string[] = ["$schema", "version", "extends", ...PROFILE_KEYS, "profiles"];

export const RUN_KEYS = ["critical", "exit_on_failure"] as const;

/** Splits a file into its parts. Mistakes are added to `problems`. */
export class FileShape {
  readonly #document: ConfigDocument;
  readonly #problems: ProcsupError[];

  constructor(document: ConfigDocument, problems: ProcsupError[]) {
    this.#document = document;
    this.#problems = problems;
  }

  /** The parts outside of profiles. */
  parts(): FileParts {
    const { value } = this.#document;
    if (!isMap(value)) {
      this.#problem([], 'expected a map with "processes"');
      return { defaults: [], processes: new Map() };
    }
    const own = Object.entries(value).filter(([key]) => !key.startsWith("x-"));
    this.#checkKeys(Object.fromEntries(own), [], FILE_KEYS);
    if (value.version !== undefined && value.version !== 1) {
      this.#problem(["version"], `unknown version ${JSON.stringify(value.version)}`, "expected 1");
    }
    return this.#partsAt(value, []);
  }

  profiles(): string[] {
    const profiles = isMap(this.#document.value) ? this.#document.value.profiles : undefined;
    if (profiles === undefined || isMap(profiles)) return Object.keys(profiles ?? {});
    this.#problem(["profiles"], "profiles: expected a map of names");
    return [];
  }

  profile(name: string): FileParts {
    const path = ["profiles", name];
    const value = (this.#document.value as { profiles: Record<string, unknown> }).profiles[name];
    if (!isMap(value)) {
      this.#problem(path, `profile "${name}": expected a map`);
      return { defaults: [], processes: new Map() };
    }
    this.#checkKeys(value, path, PROFILE_KEYS);
    return this.#partsAt(value, path);
  }

  #partsAt(value: Record<string, unknown>, path: Path): FileParts {
    const [processes, webhooks] = [new Map<string, Layer>(), new Map<string, Layer>()];
    this.#collect(value.processes, [...path, "processes"], processes);
    this.#collect(value.cron, [...path, "cron"], processes, cronLayer);
    this.#collect(value.webhooks, [...path, "webhooks"], webhooks);
    const secrets = this.#map(value, path, "secrets");
    const defaults = this.#map(value, path, "defaults");
    const web = this.#map(value, path, "web");
    const run = this.#map(value, path, "run");
    if (run !== undefined) this.#checkKeys(run.value, run.path, RUN_KEYS);
    return {
      defaults: [
        ...secrets === undefined ? [] : [this.#layer(path, { secrets: secrets.value })],
        ...defaults === undefined ? [] : [defaults],
      ],
      ...{ processes, web, run },
      alerts: (value.alerts ?? null) === null
        ? undefined
        : this.#layer(path, { alerts: value.alerts }),
      webhooks: (value.webhooks ?? null) === null ? undefined : webhooks,
    };
  }

  /** The map under a key; undefined if there is none. */
  #map(value: Record<string, unknown>, path: Path, key: string): Layer | undefined {
    const inner = value[key] ?? undefined;
    if (isMap(inner)) return this.#layer([...path, key], inner);
    if (inner !== undefined) this.#problem([...path, key], `${key}: expected a map`);
    return undefined;
  }

  #collect(
    value: unknown,
    path: Path,
    into: Map<string, Layer>,
    change: (layer: Layer) => Layer = (layer) => layer,
  ): void {
    if (value === undefined || value === null) return;
    const isList = Array.isArray(value);
    if (!isList && !isMap(value)) {
      return this.#problem(path, `${path.at(-1)}: expected a list, or a map of names`);
    }
    for (const [key, keys] of Object.entries(value)) {
      const at = [...path, isList ? Number(key) : key];
      if (!isMap(keys)) {
        this.#problem(at, `${isList ? `${path.at(-1)}[${key}]` : `"${key}"`}: expected a map`);
        continue;
      }
      const name = isList ? keys.name : keys.name ?? key;
      if (typeof name !== "string") this.#problem(at, `${path.at(-1)}[${key}]: "name" is missing`);
      else if (into.has(name)) this.#problem([...at, "name"], `duplicate name "${name}"`);
      else into.set(name, change(this.#layer(at, keys)));
    }
  }

  #checkKeys(value: Layer["value"], path: Path, known: readonly string[]): void {
    for (const key of Object.keys(value)) {
      if (known.includes(key)) continue;
      const near = nearestWord(key, known);
      this.#problem(
        [...path, key],
        `unknown key "${[...path, key].join(".")}"`,
        near === undefined ? `expected one of ${known.join(", ")}` : didYouMean(near),
        "key",
      );
    }
  }

  #layer(path: Path, value: Record<string, unknown>): Layer {
    return { document: this.#document, path, value };
  }

  #problem(path: Path, what: string, advice?: string, on: "key" | "value" = "value"): void {
    const place = placeIn(this.#document, path, on);
    this.#problems.push(new ConfigProblem(this.#document.file, what, { place, advice }));
  }
}

const CRON_KEYS: readonly string[] = Object.keys(CRON.keys);

/** Moves the schedule of a cron job under the key `cron`. */
function cronLayer(layer: Layer): Layer {
  const entries = Object.entries(layer.value);
  const cron = Object.fromEntries(entries.filter(([key]) => CRON_KEYS.includes(key)));
  const rest = Object.fromEntries(entries.filter(([key]) => !CRON_KEYS.includes(key)));
  return { ...layer, value: { ...rest, cron } };
}
