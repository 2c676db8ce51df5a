/** The text of a configuration plan, one line per process. */

import { plainText } from "../model/plain_text.ts";
import type { ConfigChangeJson, ConfigReloadResult, SettingChangeJson } from "../protocol/wire.ts";

const KEPT = "not in file (kept; use --prune to remove)";

const SIGNS: Readonly<Record<SettingChangeJson["change"], string>> = {
  added: "+",
  changed: "~",
  unchanged: "=",
  removed: "-",
  kept: "-",
};

/** Describes the change of a daemon setting. */
export function settingText({ change, fields }: SettingChangeJson): string {
  if (change === "removed") return "removed";
  return change === "kept" ? KEPT : fields.map(fieldText).join(", ");
}

/** The lines of a plan; unchanged processes are counted at the end. */
export function planLines(result: ConfigReloadResult): string[] {
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
