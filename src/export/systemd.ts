/** systemd units that run the apps without procsup: services, timers, sockets, and one target. */

import { valueAt } from "../config/document.ts";
import { envFilesOf } from "../model/env_files.ts";
import { namesInEnvFile, unlikeSystemd } from "../config/env_file.ts";
import { interpolate } from "../config/layer.ts";
import { parseDuration } from "../model/duration.ts";
import { ProcsupError } from "../model/errors.ts";
import { afterFlag, holdsSecret } from "../model/secret_values.ts";
import type { HookConfig, ProcessConfig, StopMode } from "../model/process_config.ts";
import { commandWord, referringWord, specifiers } from "../model/shell_line.ts";
import { resolve } from "@std/path";
import { parseSockets } from "../platform/sockets/sockets.ts";
import { commandLine } from "../runtimes/command_line.ts";
import { intervalOf } from "../model/interval_schedule.ts";
import { calendarEvents } from "./calendar.ts";
import { type App, endsByItself, RESTART, settled, type Stack } from "./stack.ts";

/** A unit file: section → settings. */
export interface UnitFile {
  readonly path: string;
  readonly sections: Readonly<Record<string, readonly Setting[]>>;
  /** The app of the unit. */
  readonly app?: string;
  /** A note for the person who installs it. */
  readonly advice?: string;
}

/** Not written if the value is undefined. */
type Setting = readonly [name: string, value: string | number | undefined];

export function systemdUnits(stack: Stack): UnitFile[] {
  const units = stack.apps.flatMap((app) => [service(app), ...timer(app), ...socket(app)]);
  const wants = stack.apps.flatMap(wantedUnits);
  const enabled = [`${stack.name}.target`, ...wants].join(" ");
  return [...units, {
    path: `${stack.name}.target`,
    sections: {
      Unit: [["Description", specifiers(`Apps of ${stack.file}`)]],
      Install: [["WantedBy", "multi-user.target"]],
    },
    advice: `Copy all to /etc/systemd/system, then: systemctl enable --now ${enabled}`,
  }];
}

/** Name of an app's units. It is unique, as ids of stacks and apps contain no "_". */
export function unitName(stack: string, app: string): string {
  return `${stack}_${app}`;
}

/** The units to enable for an app: its timer, or its services. */
export function wantedUnits(app: App): string[] {
  const { autostart, cron } = app.config;
  if (!autostart || cron?.enabled === false) return [];
  if (cron !== undefined && !hasTimer(cron.schedule)) return [];
  return unitNames(app, cron === undefined ? "service" : "timer");
}

/** Units of an app, one for each copy. */
function unitNames(app: App, kind: "service" | "timer"): string[] {
  const { instances } = app.config;
  const name = unitName(app.stack.name, app.id);
  if (instances === 1) return [`${name}.${kind}`];
  return Array.from({ length: instances }, (_, i) => `${name}@${i + 1}.${kind}`);
}

/** The file of a unit: `shop_api@.service` for `shop_api@2.service`. */
export function fileOf(unit: string): string {
  return unit.replace(/@\d+\./, "@.");
}

function service(app: App): UnitFile {
  const { stack, config } = app;
  const needed = neededNames(app);
  const path = `/etc/${stack.name}/${app.id}.env`;
  const isNeeded = needed.length > 0;
  // Before the other settings, so that its losses are the first.
  const variables = environment(app, isNeeded ? path : undefined);
  return {
    path: fileOf(unitNames(app, "service")[0]!),
    app: app.name,
    advice: isNeeded ? `${path}, mode 600, must set: ${needed.join(", ")}` : undefined,
    sections: {
      Unit: [
        ["Description", specifiers(`${app.name} of ${stack.file}`)],
        ["Wants", "network-online.target"],
        ["After", "network-online.target"],
        ["PartOf", `${stack.name}.target`],
        ...dependencies(app),
        // systemd counts every start: the limit would end a job that runs often.
        ["StartLimitIntervalSec", config.cron ? 0 : seconds(config.restartWindowMs)],
        ["StartLimitBurst", config.cron ? undefined : config.maxRestarts + 1],
      ],
      Service: [
        // systemd waits for the end of a job.
        ["Type", endsByItself(config) ? "oneshot" : waitsForNotice(config) ? "notify" : "exec"],
        ["NotifyAccess", config.notify || config.watchdogMs ? "all" : undefined],
        ["WatchdogSec", config.watchdogMs === undefined ? undefined : seconds(config.watchdogMs)],
        ["TimeoutStartSec", startLimit(config)],
        ...program(app),
        ...variables,
        ...hooks(app),
        ...ending(config),
        ...rights(config),
        ["Sockets", config.sockets.length > 0 ? socketName(app) : undefined],
      ],
      ...(config.cron === undefined && { Install: install(app) }),
    },
  };
}

/** Whether systemd, too, waits for `READY=1`. Without `notify` an app may use procsup's ready file. */
function waitsForNotice({ notify, waitReady, readyLog, readyDelayMs, healthCheck }: ProcessConfig) {
  return notify === true && waitReady &&
    [readyLog, readyDelayMs, healthCheck].every((other) => other === undefined);
}

/** The target starts the enabled units. */
function install({ stack }: App): Setting[] {
  return [["WantedBy", `${stack.name}.target`]];
}

/** A job has its time limit; for other apps, systemd applies the limit to each hook of the start. */
function startLimit(config: ProcessConfig): string | undefined {
  const { cron, hooks: { preStart, postStart } } = config;
  if (endsByItself(config)) {
    return cron?.timeoutMs === undefined ? "infinity" : seconds(cron.timeoutMs);
  }
  const hookMs = [preStart, postStart].flatMap((hook) => hook?.timeoutMs ?? []);
  return hookMs.length === 0 ? undefined : seconds(Math.max(...hookMs, 1));
}

/** The grace before SIGKILL. It is also the limit of each hook of the stop. */
function stopLimit({ stopTimeoutMs, hooks: { preStop, postStop } }: ProcessConfig): string {
  const hookMs = [preStop, postStop].flatMap((hook) => hook?.timeoutMs ?? []);
  return seconds(Math.max(stopTimeoutMs, ...hookMs, 1));
}

function program(app: App): Setting[] {
  const { config, loaded, lose } = app;
  const words = settled(loaded, "entrypoint", argv(app)).map((word) => commandWord(word));
  const args = argumentsOf(app).map(({ word, secret }, index) => {
    if (secret) lose(`args.${index}`, `it looks like a secret: set ${secret} instead`);
    return word;
  });
  return [
    ["WorkingDirectory", specifiers(settled(loaded, "cwd", config.cwd))],
    ["ExecStart", [...words, ...args].join(" ")],
  ];
}

/** The program without its arguments, looked up on this machine. */
function argv(app: App): readonly string[] {
  const { config, lose } = app;
  try {
    const search = { path: Deno.env.get("PATH") ?? "", versions: "assumed" } as const;
    return commandLine({ ...config, args: [] }, search).argv;
  } catch (error) {
    if (!(error instanceof ProcsupError)) throw error;
    lose("entrypoint", `not found here: ${error.message}`);
    return [...(config.interpreter === undefined ? [] : [config.interpreter]), config.entrypoint];
  }
}

/**
 * The arguments as words of a unit, with the variables that the administrator must set. `secret` is
 * the variable that stands for an argument that looks like a secret.
 */
function argumentsOf({ config: { args }, loaded }: App) {
  return args.map((arg, index) => {
    const reference = loaded.references.find(({ path }) => path[0] === "args" && path[1] === index);
    const flag = afterFlag(args[index - 1] ?? "");
    // Check the text that the unit would contain: defaults, but no values of variables.
    const text = reference === undefined ? arg : interpolate(reference.text, () => "");
    const secret = `ARGUMENT_${index}`;
    if (holdsSecret(flag + text)) return { word: `\${${secret}}`, needs: [secret], secret };
    if (reference === undefined) return { word: commandWord(arg), needs: [] };
    const needs = Object.keys(reference.variables)
      .filter((name) => reference.text.includes(`\${${name}}`));
    return { word: referringWord(reference.text), needs };
  });
}

/** Names of the variables that the administrator must set in the environment file. */
function neededNames(app: App): string[] {
  const { env, secrets } = app.config;
  const inArgs = argumentsOf(app).flatMap(({ needs }) => needs);
  const others = Object.keys(env).filter((name) => !(name in app.plain));
  return [...new Set([...others, ...Object.keys(secrets), ...inArgs])];
}

/** Plain values go into the unit; the others into the environment file. */
function environment(app: App, path: string | undefined): Setting[] {
  const { inheritEnv } = app.config;
  const files = envFilesOf(app.config);
  for (const name of overriddenNames(app)) {
    const text = "a file of env_file sets it, or cannot be read here: systemd lets the file win";
    app.lose(`env.${name}`, text);
  }
  for (const { path: file } of files) {
    const unlike = unlikeSystemd(file);
    if (unlike.length === 0) continue;
    const text = `systemd reads ${unlike.join(", ")} of ${file} differently: ` +
      "it has no export, no comment after a value, no escapes, and only letters, digits and _ in names";
    app.lose("env_file", text);
  }
  return [
    ...files.map(({ path, required }) =>
      ["EnvironmentFile", `${required ? "" : "-"}${specifiers(path)}`] as const
    ),
    ...Object.entries(app.plain).map(([name, value]) =>
      ["Environment", JSON.stringify(specifiers(`${name}=${value}`))] as const
    ),
    ["EnvironmentFile", path],
    ["PassEnvironment", inheritEnv instanceof Array && inheritEnv.join(" ") || undefined],
  ];
}

/** Plain variables that a file sets as well, or may set. */
function overriddenNames({ plain, config }: App): string[] {
  const sets = envFilesOf(config).map(({ path }) => namesInEnvFile(resolve(config.cwd, path)));
  return Object.keys(plain).filter((name) =>
    sets.some((names) => names === undefined || names.includes(name))
  );
}

const HOOKS = [
  ["preStart", "pre_start", "ExecStartPre"],
  ["postStart", "post_start", "ExecStartPost"],
  ["preStop", "pre_stop", "ExecStop"],
  ["postStop", "post_stop", "ExecStopPost"],
] as const;

function hooks(app: App): Setting[] {
  return HOOKS.flatMap(([key, word, setting]): Setting[] => {
    const hook = app.config.hooks[key];
    if (hook === undefined || hook.command === "") return [];
    if (holdsSecret(hook.command)) {
      app.lose(`hooks.${word}`, "it looks like a secret");
      return [];
    }
    if (valueAt(app.loaded.wire, ["hooks", word, "timeout"]) !== undefined) {
      app.lose(`hooks.${word}.timeout`, "a unit has no time limit for one command");
    }
    return [[setting, hookLine(hook, key)]];
  });
}

/** A failed `pre_start` hook stops the start. For the others, "-" makes systemd ignore failures. */
function hookLine({ command, ignoreFailure, runAsRoot }: HookConfig, key: string): string {
  const tolerant = ignoreFailure || key !== "preStart" ? "-" : "";
  return `${tolerant}${runAsRoot ? "+" : ""}/bin/sh -c ${commandWord(command, true)}`;
}

const KILL_MODE: Readonly<Record<StopMode, string>> = {
  group: "control-group",
  main: "mixed",
  leave: "process",
};

function ending(config: ProcessConfig): Setting[] {
  const { restartPolicy, cron, reloadSignal, maxAgeMs } = config;
  const codes = config.successExitCodes.filter((code) => code !== 0);
  return [
    ["Restart", cron === undefined ? RESTART[restartPolicy] : "no"],
    ["RestartSec", seconds(config.restartDelayMs)],
    ["SuccessExitStatus", codes.join(" ") || undefined],
    ["KillSignal", config.stopSignal],
    ["KillMode", KILL_MODE[config.stopMode]],
    ["TimeoutStopSec", stopLimit(config)],
    ["ExecReload", reloadSignal && `/bin/kill -${reloadSignal.replace(/^SIG/, "")} $MAINPID`],
    ["RuntimeMaxSec", maxAgeMs && seconds(maxAgeMs)],
  ];
}

function rights(config: ProcessConfig): Setting[] {
  const { limits, maxMemoryBytes, namespace } = config;
  return [
    ["User", config.uid],
    ["Group", config.gid],
    ["UMask", config.umask],
    ["Nice", config.nice],
    ["LimitNOFILE", limits.nofile],
    ["LimitNPROC", limits.nproc],
    ["LimitCORE", limits.coreBytes],
    ["LimitAS", limits.addressSpaceBytes],
    ["LimitFSIZE", limits.fileSizeBytes],
    ["MemoryMax", limits.memoryBytes ?? maxMemoryBytes],
    // systemd refuses more than two decimals.
    ["CPUQuota", limits.cpuPercent && `${Math.round(limits.cpuPercent * 10) / 10}%`],
    ["MemoryHigh", limits.memoryHighBytes],
    ["CPUWeight", limits.cpuWeight],
    ["TasksMax", limits.pids],
    ["NoNewPrivileges", config.noNewPrivs ? "yes" : undefined],
    ["PrivateTmp", config.privateTmp ? "yes" : undefined],
    ["ProtectSystem", config.readOnly ? "strict" : undefined],
    ["ReadWritePaths", config.writable.join(" ") || undefined],
    // A dash in a slice name would make a nested slice.
    ["Slice", namespace === "default" ? undefined : `${namespace.replaceAll("-", "_")}.slice`],
  ];
}

function socketName({ stack, id }: App): string {
  return `${unitName(stack.name, id)}.socket`;
}

function socket(app: App): UnitFile[] {
  const addresses = parseSockets(app.config.sockets);
  if (addresses.length === 0) return [];
  const [service] = unitNames(app, "service");
  const socket: Setting[] = [
    ...addresses.map(({ text }) => ["ListenStream", text.replace(/^:/, "")] as const),
    ["Service", service],
  ];
  return [companion(app, socketName(app), "Sockets", { Socket: socket })];
}

function hasTimer(schedule: string): boolean {
  return intervalOf(schedule) !== undefined || calendarEvents(schedule) !== undefined;
}

function timer(app: App): UnitFile[] {
  const { cron } = app.config;
  if (cron === undefined) return [];
  const interval = intervalOf(cron.schedule);
  const events = calendarEvents(cron.schedule);
  if (!hasTimer(cron.schedule)) {
    app.lose("cron.schedule", `${cron.schedule}: no calendar event means it`);
    // systemd refuses to start a timer without OnCalendar=.
    return [];
  }
  const zone = cron.timezone === undefined ? "" : ` ${cron.timezone}`;
  const timer: Setting[] = [
    ...(events ?? []).map((event) => ["OnCalendar", event + zone] as const),
    ...interval === undefined ? [] : [
      ["OnActiveSec", seconds(parseDuration(interval))],
      ["OnUnitActiveSec", seconds(parseDuration(interval))],
    ] as const,
    ["AccuracySec", "1s"],
    ["RandomizedDelaySec", cron.randomDelayMs && seconds(cron.randomDelayMs)],
    ["Persistent", cron.catchUp === "once" && interval === undefined ? "true" : undefined],
  ];
  const path = fileOf(unitNames(app, "timer")[0]!);
  return [companion(app, path, "Schedule", { Timer: timer, Install: install(app) })];
}

/** A unit beside the service of an app. */
function companion(app: App, path: string, what: string, sections: UnitFile["sections"]): UnitFile {
  const { stack, name } = app;
  const unit: Setting[] = [
    ["Description", specifiers(`${what} of ${name} of ${stack.file}`)],
    ["PartOf", `${stack.name}.target`],
  ];
  return { path, app: name, sections: { Unit: unit, ...sections } };
}

/** systemd waits for the end of a job, but only for the start of other apps. */
function dependencies(app: App): Setting[] {
  return Object.entries(app.config.dependsOn).flatMap(([name, state]) => {
    const other = app.stack.apps.find((one) => one.name === name)!;
    const { waitReady, readyLog, readyDelayMs, healthCheck } = other.config;
    const isEnd = state === "completed" || state === "completed_ok";
    const isProbed = waitReady || [readyLog, readyDelayMs, healthCheck].some(Boolean);
    const isDifferent = endsByItself(other.config)
      ? !isEnd
      : isEnd || (state !== "started" && isProbed);
    if (isDifferent) {
      const what = endsByItself(other.config) ? "its end" : "its start alone";
      app.lose("depends_on", `${name}: ${state}: systemd waits for ${what}`);
    }
    const verb = state === "completed" ? "Wants" : "Requires";
    return unitNames(other, "service").flatMap((unit) => [[verb, unit], ["After", unit]] as const);
  });
}

function seconds(ms: number): string {
  return ms % 1000 === 0 ? `${ms / 1000}s` : `${Math.ceil(ms)}ms`;
}
