/** The timers of systemd: which service one starts, and when. */

import { basename, dirname, join } from "@std/path";
import { lookAt } from "../../platform/files/stat.ts";
import { ConfigProblem } from "../problem.ts";
import { readText } from "../read_document.ts";
import { cronOf, everyInterval, type Schedule } from "./calendar.ts";
import { type Lost, lost, UNSUPPORTED } from "./imported.ts";
import { readUnit, type Unit, type Values } from "./unit.ts";

/** The timer beside a service; undefined without one. */
export function timerOf(service: string): Unit | undefined {
  const path = service.replace(/\.service$/, ".timer");
  return path !== service && lookAt(path)?.isFile ? readUnit(path, readText(path)) : undefined;
}

/** The service that a timer starts. Throws `ConfigProblem` if it is not beside the timer. */
export function triggered({ file, sections, placeOf }: Unit): Unit {
  const [given] = sections.get("Timer")?.get("Unit") ?? [];
  const name = given ?? basename(file).replace(/\.timer$/, ".service");
  const path = join(dirname(file), name);
  if (lookAt(path)?.isFile) return readUnit(path, readText(path));
  throw new ConfigProblem(file, `it starts ${name}, which is not beside it`, {
    place: placeOf(["Timer", "Unit"]),
    advice: "import both from one folder",
  });
}

/** The schedule of a timer; undefined if procsup has none like it. */
export function scheduleOf({ sections }: Unit): Schedule | undefined {
  const timer = sections.get("Timer") ?? new Map<string, string[]>();
  const calendars = timer.get("OnCalendar") ?? [];
  if (calendars.length === 1) return cronOf(calendars[0]!);
  const [interval] = timer.get("OnUnitActiveSec") ?? timer.get("OnUnitInactiveSec") ?? [];
  if (calendars.length > 1 || interval === undefined) return undefined;
  const [, count, unit = "s"] =
    /^(\d+)\s*(s|sec|m|min|h|hr|hours?|minutes?|d|days?)?$/.exec(interval) ?? [];
  if (count === undefined) return undefined;
  const isDay = unit.startsWith("d");
  const schedule = everyInterval(isDay ? `${Number(count) * 24}h` : `${count}${unit[0]}`);
  return schedule === undefined ? undefined : { schedule };
}

/** Settings of a timer that need no counterpart. */
const HANDLED = /^(OnCalendar|Unit|AccuracySec|RemainAfterElapse|Description)$/;

const WHY: Readonly<Record<string, string>> = {
  Persistent: "a run that was missed while the daemon was off is not made up for",
  OnBootSec: "it runs at the times of its schedule only",
  OnStartupSec: "it runs at the times of its schedule only",
  OnActiveSec: "it runs at the times of its schedule only",
  OnUnitActiveSec: "it runs at full hours, minutes or seconds, not counted from the last run",
  OnUnitInactiveSec: "it runs at full hours, minutes or seconds, not counted from the last run",
};

/** Notes on the settings of a timer. Without a schedule, nothing starts the service. */
export function lostOfTimer({ file, sections }: Unit, isScheduled: boolean): Lost[] {
  const settings = [...sections.get("Timer") ?? []] as [string, Values][];
  const shown = (key: string, values: Values) => `${basename(file)} ${key}=${values.join(" ")}`;
  if (!isScheduled) {
    const times = settings.filter(([key]) => /^On/.test(key));
    const why = "no schedule of cron: procsup start starts it, write cron by hand";
    return times.map(([key, values]) => lost(["Timer", key], why, shown(key, values)));
  }
  return settings.filter(([key, values]) =>
    !HANDLED.test(key) && !/^(no|false|0)$/.test(values[0] ?? "no")
  )
    .map(([key, values]) => lost(["Timer", key], WHY[key] ?? UNSUPPORTED, shown(key, values)));
}
