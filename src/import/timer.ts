/** The timers of systemd: which service one starts, and when. */

import { basename, dirname, join } from "@std/path";
import { lookAt } from "../platform/files/stat.ts";
import { ConfigProblem } from "../config/problem.ts";
import { readText } from "../config/read_document.ts";
import { cronOf, everyInterval, type Schedule, span } from "./calendar.ts";
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
  const [delay] = timer.get("RandomizedDelaySec") ?? [];
  const kept = {
    ...delay !== undefined && { random_delay: span(delay) },
    ...isOn(timer.get("Persistent")) && { catch_up: "once" },
  };
  if (calendars.length === 1) {
    const calendar = cronOf(calendars[0]!);
    return calendar && { ...calendar, ...kept };
  }
  const [interval] = timer.get("OnUnitActiveSec") ?? timer.get("OnUnitInactiveSec") ?? [];
  if (calendars.length > 1 || interval === undefined) return undefined;
  const schedule = everyInterval(span(interval));
  return schedule === undefined ? undefined : { schedule, ...kept };
}

function isOn(values: Values = []): boolean {
  return !/^(no|false|off|0)$/.test(values[0] ?? "no");
}

/** Settings of a timer that need no counterpart. */
const HANDLED =
  /^(OnCalendar|OnUnit(In)?activeSec|Unit|AccuracySec|RemainAfterElapse|Description|Persistent|RandomizedDelaySec)$/i;

const WHY: Readonly<Record<string, string>> = {
  OnBootSec: "it runs at the times of its schedule only",
  OnStartupSec: "it runs at the times of its schedule only",
  OnActiveSec: "it runs at the times of its schedule only",
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
  return settings.filter(([key, values]) => !HANDLED.test(key) && isOn(values))
    .map(([key, values]) => lost(["Timer", key], WHY[key] ?? UNSUPPORTED, shown(key, values)));
}
