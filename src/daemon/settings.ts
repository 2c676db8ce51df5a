/** Applies the daemon's own settings in configuration files: `web` and `webhooks`. */

import type { SettingName } from "./config_memory.ts";
import type { LoadedSettings } from "../config/load_settings.ts";
import { messageOf } from "../model/errors.ts";
import type { FieldChange } from "../manager/config_diff.ts";
import type { Supervisor } from "../manager/supervisor.ts";
import type { SettingChangeJson } from "../protocol/wire.ts";
import { webChanges, type WebListener } from "./web_listener.ts";
import type { Webhooks } from "./webhooks/webhooks.ts";

export interface SettingsPlan {
  /** One change for each setting that the files have, or had before. */
  readonly changes: readonly SettingChangeJson[];
  /** Carries out the plan. Resolves with error messages. */
  carryOut(): Promise<string[]>;
}

interface SettingsRequest {
  readonly wanted: LoadedSettings;
  /** Settings that the same files set last time. */
  readonly mine: ReadonlySet<SettingName>;
  /** Whether to remove settings that the files no longer have. */
  readonly prune: boolean;
}

/** The owners of the settings. In the foreground there is no web listener. */
interface SettingsParts {
  readonly supervisor: Supervisor;
  readonly web?: WebListener;
  readonly webhooks: Webhooks;
  readonly warn: (message: string) => void;
}

interface Step extends SettingChangeJson {
  readonly act: () => Promise<unknown>;
}

export class Settings {
  readonly #parts: SettingsParts;

  constructor(parts: SettingsParts) {
    this.#parts = parts;
  }

  /** Names of the settings that are in effect. */
  async present(): Promise<Set<SettingName>> {
    const present = new Set<SettingName>();
    if (await this.#parts.web?.settings() !== undefined) present.add("web");
    if ((await this.#parts.webhooks.list()).length > 0) present.add("webhooks");
    return present;
  }

  /** Compares the wanted settings with the current ones. Throws `invalid_config` before any change. */
  async plan(request: SettingsRequest): Promise<SettingsPlan> {
    const steps = [...await this.#webhooks(request), ...await this.#web(request)];
    return {
      changes: steps.map(({ act: _, ...change }) => change),
      carryOut: async () => {
        const errors: string[] = [];
        // In this order, so that webhooks report a later failure.
        for (const { act } of steps) await act().catch((error) => errors.push(messageOf(error)));
        return errors;
      },
    };
  }

  async #web({ wanted, mine, prune }: SettingsRequest): Promise<Step[]> {
    const { web, warn } = this.#parts;
    if (wanted.web !== undefined && web === undefined) {
      return [step("web", "kept", [], () => {
        warn('"web" is ignored: procsup run has no web listener');
        return Promise.resolve();
      })];
    }
    if (web === undefined) return [];
    const now = await web.settings();
    if (wanted.web === undefined) {
      const goes = now !== undefined && mine.has("web");
      return goes
        ? [step("web", prune ? "removed" : "kept", [], () => prune ? web.stop() : idle())]
        : [];
    }
    const settings = wanted.web;
    const fields = webChanges(now, settings);
    const change = now === undefined ? "added" : fields.length === 0 ? "unchanged" : "changed";
    return [step("web", change, fields, () => web.configure(settings))];
  }

  async #webhooks({ wanted, mine, prune }: SettingsRequest): Promise<Step[]> {
    const { webhooks, supervisor } = this.#parts;
    const now = await webhooks.list();
    if (wanted.webhooks === undefined) {
      if (now.length === 0 || !mine.has("webhooks")) return [];
      const act = () => prune ? webhooks.configure(supervisor, []) : idle();
      return [step("webhooks", prune ? "removed" : "kept", [], act)];
    }
    const keyed = await webhooks.keyed(wanted.webhooks);
    const { webhookChanges } = await import("./webhooks/configured_webhooks.ts");
    const fields = webhookChanges(now, wanted.webhooks);
    const change = fields.length === 0 ? "unchanged" : now.length === 0 ? "added" : "changed";
    // Apply it even if unchanged: a secret may have a new value.
    return [step("webhooks", change, fields, () => webhooks.configure(supervisor, keyed))];
  }
}

function step(
  name: SettingName,
  change: SettingChangeJson["change"],
  fields: readonly FieldChange[],
  act: () => Promise<unknown>,
): Step {
  return { name, change, fields, act };
}

function idle(): Promise<void> {
  return Promise.resolve();
}
