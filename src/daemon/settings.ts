/** Applies the daemon's own settings in configuration files: `web`, `webhooks` and `alerts`. */

import type { LoadedSettings } from "../config/load_config.ts";
import { keyChanges } from "../model/config_diff.ts";
import { alertsWire } from "../model/config_schema.ts";
import { messageOf } from "../model/errors.ts";
import { HOST_ALERT_KEYS } from "../model/settings_keys.ts";
import type { Purpose } from "../manager/check_config.ts";
import type { Supervisor } from "../manager/supervisor.ts";
import type { SettingChangeJson } from "../protocol/wire.ts";
import type { Alerts } from "./alerts.ts";
import { readTls } from "./tls_files.ts";
import { webChanges, type WebListener } from "./web_listener.ts";
import type { Webhooks } from "./webhooks/webhooks.ts";

/** A setting of the daemon that configuration files may hold. */
export type SettingName = SettingChangeJson["name"];

export interface SettingsPlan {
  /** One change for each setting that the files have, or had before. */
  readonly changes: readonly SettingChangeJson[];
  /** Carries out the plan. Resolves with error messages. */
  carryOut(): Promise<string[]>;
}

interface SettingsRequest {
  readonly wanted: LoadedSettings;
  /** Settings that the same files set last time. */
  readonly mine: readonly SettingName[];
  /** Whether to remove settings that the files no longer have. */
  readonly prune: boolean;
  readonly purpose: Purpose;
}

/** The owners of the settings. In the foreground there is neither a web listener nor a history of figures. */
export interface SettingsParts {
  readonly supervisor: Supervisor;
  readonly web?: WebListener;
  readonly webhooks: Webhooks;
  readonly alerts?: Alerts;
  readonly warn: (message: string) => void;
}

interface Step extends SettingChangeJson {
  readonly act?: (() => unknown) | undefined;
}

/** Names of the settings that are in effect. */
export async function presentSettings(
  { web, webhooks, alerts }: SettingsParts,
): Promise<SettingName[]> {
  const present: Readonly<Record<SettingName, boolean>> = {
    web: await web?.settings() !== undefined,
    webhooks: (await webhooks.list()).length > 0,
    alerts: (alerts?.host ?? []).length > 0,
  };
  return Object.entries(present).flatMap(([name, isPresent]) =>
    isPresent ? [name as SettingName] : []
  );
}

/** Compares the wanted settings with the current ones. Throws `invalid_config` before any change. */
export async function planSettings(
  parts: SettingsParts,
  request: SettingsRequest,
): Promise<SettingsPlan> {
  // In this order, so that webhooks report a later failure.
  const planned = [
    await webhooksStep(parts, request),
    alertsStep(parts, request),
    await webStep(parts, request),
  ];
  const steps = planned.filter((step) => step !== undefined);
  return {
    changes: steps.map(({ act: _, ...change }) => change),
    async carryOut() {
      const errors: string[] = [];
      for (const { act } of steps) {
        try {
          await act?.();
        } catch (error) {
          errors.push(messageOf(error));
        }
      }
      return errors;
    },
  };
}

async function webStep(
  { web, warn }: SettingsParts,
  { wanted: { web: settings }, mine, prune }: SettingsRequest,
): Promise<Step | undefined> {
  if (web === undefined) {
    const act = () => warn('"web" is ignored: procsup run has no web listener');
    return settings && { name: "web", change: "kept", fields: [], act };
  }
  const now = await web.settings();
  if (settings === undefined) {
    const goes = now !== undefined && mine.includes("web");
    return goes ? unset("web", prune, () => web.stop()) : undefined;
  }
  const fields = webChanges(now, settings);
  // Unreadable files are found before any change.
  if (fields.length > 0 && settings.tls !== undefined) readTls(settings.tls);
  const change = now === undefined ? "added" : fields.length === 0 ? "unchanged" : "changed";
  return { name: "web", change, fields, act: () => web.configure(settings) };
}

async function webhooksStep(
  { webhooks, supervisor }: SettingsParts,
  { wanted, mine, prune, purpose }: SettingsRequest,
): Promise<Step | undefined> {
  const now = await webhooks.list();
  if (wanted.webhooks === undefined) {
    const goes = now.length > 0 && mine.includes("webhooks");
    const remove = () => webhooks.configure(supervisor, []);
    return goes ? unset("webhooks", prune, remove) : undefined;
  }
  const keyed = await webhooks.keyed(wanted.webhooks, purpose);
  const { webhookChanges } = await import("./webhooks/configured_webhooks.ts");
  const fields = webhookChanges(now, wanted.webhooks);
  const change = fields.length === 0 ? "unchanged" : now.length === 0 ? "added" : "changed";
  // Apply it even if unchanged: a secret may have a new value.
  const act = () => webhooks.configure(supervisor, keyed);
  return { name: "webhooks", change, fields, act };
}

function alertsStep(
  { alerts, warn }: SettingsParts,
  { wanted, mine, prune }: SettingsRequest,
): Step | undefined {
  if (alerts === undefined) {
    const act = () => warn('"alerts" is ignored: procsup run keeps no history of figures');
    return wanted.alerts && { name: "alerts", change: "kept", fields: [], act };
  }
  const now = alerts.host;
  if (wanted.alerts === undefined) {
    const goes = now.length > 0 && mine.includes("alerts");
    return goes ? unset("alerts", prune, () => alerts.configure([])) : undefined;
  }
  const { alerts: next } = wanted;
  const fields = keyChanges(alertsWire(now), alertsWire(next), HOST_ALERT_KEYS);
  const change = fields.length === 0 ? "unchanged" : now.length === 0 ? "added" : "changed";
  return { name: "alerts", change, fields, act: () => alerts.configure(next) };
}

/** A setting that the files no longer have. */
function unset(name: SettingName, prune: boolean, remove: () => unknown): Step {
  return { name, change: prune ? "removed" : "kept", fields: [], act: prune ? remove : undefined };
}
