/** PM2's ecosystem files, and what `pm2 save` writes. */

import { type ConfigDocument, isMap } from "../document.ts";
import { folderOf } from "../layer.ts";
import { ConfigProblem } from "../problem.ts";
import { type Imported, type Importer, ImportResult, type Keys, texts } from "./imported.ts";
import { appsOfDump, isDump } from "./pm2_dump.ts";
import { KEYS, SILENT } from "./pm2_keys.ts";
import { pm2Command, pm2Name } from "./pm2_command.ts";

/** Configurations of PM2. */
export const pm2: Importer = {
  name: "pm2",
  matches: ({ value }) =>
    isDump(value) || (isMap(value) && "apps" in value && !("processes" in value)),
  convert,
};

type App = Readonly<Record<string, unknown>>;

function convert({ file, value }: ConfigDocument): Imported {
  const result = new ImportResult();
  const profiles: Record<string, { processes: Record<string, Keys> }> = {};
  for (const app of appsOf(file, value)) {
    addApp({ ...app, script: scriptOf(file, app) }, folderOf(file), result, profiles);
  }
  if (isMap(value)) {
    for (const key of Object.keys(value)) {
      if (key !== "apps") result.note(undefined, `${key}: procsup has nothing for it`);
    }
  }
  return { processes: result.processes, notes: result.notes, profiles };
}

function appsOf(file: string, value: unknown): readonly App[] {
  if (isDump(value)) return appsOfDump(value);
  const { apps } = value as { apps: unknown };
  const list = Array.isArray(apps) ? apps : [apps];
  if (list.length > 0 && list.every(isMap)) return list;
  throw new ConfigProblem(file, "apps: expected a list of apps");
}

/** What an app runs, in the words that PM2 takes for it. */
function scriptOf(file: string, app: App): unknown {
  const script = app.script ?? app.exec ?? app.cmd;
  if (typeof script === "string" && script !== "") return script;
  const which = app.name === undefined ? "an app" : JSON.stringify(app.name);
  throw new ConfigProblem(file, `apps: ${which} has no "script"`, {
    advice: 'apps of PM2 have one; those of procsup stand under "processes", with an "entrypoint"',
  });
}

function addApp(
  app: App,
  folder: string,
  result: ImportResult,
  profiles: Record<string, { processes: Record<string, Keys> }>,
): void {
  const keys: Keys = {
    ...pm2Command(app, folder),
    restart_policy: "always",
    // PM2 says goodbye by SIGINT.
    stop_signal: "SIGINT",
  };
  const unmapped: string[] = [];
  const envs: Record<string, Keys> = {};
  for (const [key, value] of Object.entries(app)) {
    const [, profile] = /^env_(.+)$/.exec(key) ?? [];
    if (profile !== undefined && isMap(value)) envs[profile] = { env: texts(value) };
    else if (Object.hasOwn(KEYS, key)) Object.assign(keys, KEYS[key]!(value, app));
    else if (!SILENT.has(key)) unmapped.push(`${key}: procsup has nothing for it`);
  }
  const name = result.add(pm2Name(app), keys);
  if (app.exec_mode === "cluster" || app.exec_mode === "cluster_mode") {
    unmapped.push("exec_mode: the instances share a port only through sockets: [address:port]");
  }
  if (app.cron_restart && app.autorestart === false) {
    unmapped.push("cron_restart: it runs by the clock only, not at the start as well");
  }
  for (const text of unmapped) result.note(name, text);
  for (const [profile, made] of Object.entries(envs)) {
    (profiles[profile] ??= { processes: {} }).processes[name] = made;
  }
}
