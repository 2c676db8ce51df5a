/** The files that make a service manager start the daemon. */

import { commandWord, quoted, shellWord, specifiers } from "../model/shell_line.ts";
import { dirname, isAbsolute } from "@std/path";
import { withoutShimFolder } from "../platform/launch/inherited_environment.ts";
import { ownWords } from "../platform/own_program.ts";
import { lookAt } from "../platform/files/stat.ts";
import { programProblem, searchProblem } from "../platform/files/way.ts";
import { type ServiceManager, systemdVersion } from "../platform/service_manager.ts";

/** What to start at boot, and for whom. */
export interface UnitRequest {
  /** For the machine, as root, or for one user's session. */
  readonly scope: "system" | "user";
  /** Words that start procsup. */
  readonly words: readonly string[];
  readonly home: string;
  readonly userHome: string;
  /** `PATH` of the apps. A service manager's own `PATH` has few folders. */
  readonly path: string;
  /** Version of systemd; 0 if unknown or for other service managers. */
  readonly version: number;
}

/** A command, and what to do if it fails. */
export interface Step {
  readonly words: readonly string[];
  /** Needs a running service manager: skipped in an image build. */
  readonly live?: true;
  /** Printed if the step fails; without it, a failure ends the sequence. */
  readonly advice?: string;
}

/** A file for a service manager. */
export interface Unit {
  readonly path: string;
  readonly text: string;
  readonly mode: number;
  /** Steps that enable and start it. Repeating them applies a changed unit. */
  readonly enable: readonly Step[];
  /** Steps that stop it (`disable`), and those after its file is removed (`removed`). */
  readonly disable: readonly Step[];
  readonly removed: readonly Step[];
  readonly status: readonly string[];
}

/** The folders of a PATH that root's apps may be searched in, and why the others may not. */
export function searchFolders(path: string): {
  readonly kept: readonly string[];
  readonly unsafe: readonly string[];
} {
  const all = [...new Set(withoutShimFolder(path).split(":").filter(isAbsolute))];
  if (Deno.uid() !== 0) return { kept: all, unsafe: [] };
  const unsafe = all.flatMap((folder) => {
    const problem = searchProblem(folder);
    return problem === undefined ? [] : [{ folder, text: `${folder}: ${problem}` }];
  });
  const left = new Set(unsafe.map(({ folder }) => folder));
  return {
    kept: all.filter((folder) => !left.has(folder)),
    unsafe: unsafe.map(({ text }) => text),
  };
}

function absoluteEntries(path: string): string {
  return searchFolders(path).kept.join(":");
}

/** Why root must not start these programs, as a clause: another user could exchange one. */
export function unsafeProgram(words: readonly string[]): string | undefined {
  if (Deno.uid() !== 0) return undefined;
  for (const path of words.filter((word) => isAbsolute(word) && lookAt(word)?.isFile)) {
    const problem = programProblem(path);
    if (problem !== undefined) return `it starts ${path}: ${problem}`;
  }
  return undefined;
}

/** The command line of a unit of each service manager. */
const COMMAND = /^(?:ExecStart|command|command_args)=.*|<array>[^]*?<\/array>/gm;

/** The words of a unit's command line that are paths. */
export function programsIn(text: string): string[] {
  const lines = [...text.matchAll(COMMAND)].map(([line]) => line).join("\n");
  return [...lines.matchAll(/"(\/[^"]*)"|'(\/[^']*)'|>(\/[^<]*)<|(?<=[\s=])(\/\S*)/g)]
    .map((match) => match.slice(1).find((path) => path !== undefined)!);
}

/** The PATH that a unit sets; empty without one. */
export function searchPathOf(text: string): string {
  const found =
    /^Environment="?PATH=([^"\n]*)|--env '?PATH=([^'\s"]*)|<key>PATH<\/key>\s*<string>([^<]*)/m
      .exec(text);
  return found?.slice(1).find((path) => path !== undefined) ?? "";
}

/** True if a unit is for this home, not for one whose path only starts the same. */
export function namesHome(text: string, home: string): boolean {
  return text.split(home).slice(1).some((rest) => /^(?![\w./-])/.test(rest));
}

/** True if two units are equal apart from `PATH`, which depends on the caller. */
export function sameUnit(one: string, other: string): boolean {
  return withoutPath(one) === withoutPath(other);
}

function withoutPath(text: string): string {
  return text
    .replace(/^Environment="?PATH=.*$/gm, "")
    .replace(/^(supervise_daemon_args=.* --env )\S*PATH=.*$/gm, "$1")
    .replace(/(<key>PATH<\/key>\s*<string>)[^<]*/g, "$1");
}

export function unitFor(manager: ServiceManager, request: UnitRequest): Unit {
  return { systemd: systemdUnit, launchd: launchdUnit, openrc: openrcUnit }[manager](request);
}

/** The unit that starts this program on this machine for a home. */
export function unitHere(manager: ServiceManager, scope: UnitRequest["scope"], home: string): Unit {
  const fallback = Deno.uid() === 0 ? "/root" : dirname(home);
  return unitFor(manager, {
    scope,
    words: ownWords(),
    home,
    userHome: Deno.env.get("HOME") ?? fallback,
    path: Deno.env.get("PATH") ?? "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    version: manager === "systemd" ? systemdVersion() : 0,
  });
}

type Value = string | boolean | number | readonly string[] | { readonly [key: string]: Value };

/** Limit of open files of a job; 256 by default on macOS. */
const OPEN_FILES = 65_536;

/** The property list: a user's launch agent or a system daemon. */
function launchdUnit({ scope, words, home, userHome, path: search }: UnitRequest): Unit {
  const user = scope === "user";
  const folder = `${user ? userHome : ""}/Library/${user ? "LaunchAgents" : "LaunchDaemons"}`;
  const path = `${folder}/procsup.plist`;
  const job: Value = {
    Label: "procsup",
    ProgramArguments: [...words, "daemon", "--home", home],
    EnvironmentVariables: { HOME: userHome, PATH: absoluteEntries(search) },
    RunAtLoad: true,
    KeepAlive: true,
    // The apps outlive the daemon, which adopts them at its next start.
    AbandonProcessGroup: true,
    // The apps inherit the settings of the job: no throttling.
    ProcessType: "Interactive",
    SoftResourceLimits: { NumberOfFiles: OPEN_FILES },
    HardResourceLimits: { NumberOfFiles: OPEN_FILES },
    StandardErrorPath: user ? `${userHome}/Library/Logs/procsup.log` : "/var/log/procsup.log",
  };
  const unload = { words: ["launchctl", "unload", "-w", path] };
  return {
    path,
    text: `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
${element(job, "")}
</plist>
`,
    mode: 0o644,
    // Unload first: a loaded job is not read again.
    enable: [
      { ...unload, advice: "It was not loaded before" },
      { words: ["launchctl", "load", "-w", path] },
    ],
    disable: [unload],
    removed: [],
    status: ["launchctl", "list", "procsup"],
  };
}

function element(value: Value, indent: string): string {
  if (typeof value === "boolean") return `${indent}<${value}/>`;
  if (typeof value === "number") return `${indent}<integer>${value}</integer>`;
  if (typeof value === "string") return `${indent}<string>${xml(value)}</string>`;
  const inner = `${indent}  `;
  if (value instanceof Array) {
    const items = value.map((item) => element(item, inner));
    return [`${indent}<array>`, ...items, `${indent}</array>`].join("\n");
  }
  const entries = Object.entries(value)
    .map(([key, item]) => `${inner}<key>${xml(key)}</key>\n${element(item, inner)}`);
  return [`${indent}<dict>`, ...entries, `${indent}</dict>`].join("\n");
}

function xml(text: string): string {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}

/** The init script, always system-wide: OpenRC releases in use have no user services. */
function openrcUnit({ words, home, userHome, path }: UnitRequest): Unit {
  const variables = [`HOME=${userHome}`, `PATH=${absoluteEntries(path)}`];
  const env = variables.map((variable) => `--env ${shellWord(variable)}`);
  const [program, ...args] = [...words, "daemon", "--home", home].map(shellWord);
  return {
    path: "/etc/init.d/procsup",
    // OpenRC evaluates these values again. PATH is set by --env: OpenRC's functions need their own.
    text: `#!/sbin/openrc-run
# shellcheck shell=sh disable=SC2034
description="procsup, keeps apps running"
supervisor=supervise-daemon
command=${shellWord(program!)}
command_args=${shellWord(args.join(" "))}
supervise_daemon_args=${shellWord(env.join(" "))}
respawn_delay=1
respawn_max=0
# When the machine goes down the daemon stops the apps in order, which may take that long.
retry=TERM/300/KILL/5

depend() {
  use net dns logger netmount
  after localmount bootmisc firewall
}
`,
    mode: 0o755,
    enable: [
      { words: ["rc-update", "add", "procsup", "default"] },
      { words: ["rc-service", "procsup", "restart"] },
    ],
    disable: [
      { words: ["rc-service", "procsup", "stop"] },
      { words: ["rc-update", "del", "procsup", "default"] },
    ],
    removed: [],
    status: ["rc-service", "procsup", "status"],
  };
}

/** From this systemd version on, units support `DelegateSubgroup` and `RestartSteps`. */
const SUBGROUPS = 254;

/** The unit. It sets no sandbox and no priority: both would apply to the apps too. */
function systemdUnit(request: UnitRequest): Unit {
  const { scope, userHome } = request;
  const user = scope === "user";
  const systemctl = ["systemctl", ...(user ? ["--user"] : [])];
  const reload: Step = { words: [...systemctl, "daemon-reload"], live: true };
  return {
    path: user
      ? `${userHome}/.config/systemd/user/procsup.service`
      : "/etc/systemd/system/procsup.service",
    text: [
      ...unitSection(request),
      ...serviceSection(request),
      "[Install]",
      `WantedBy=${user ? "default.target" : "multi-user.target"}`,
      "",
    ].join("\n"),
    mode: 0o644,
    enable: [
      reload,
      { words: [...systemctl, "enable", "procsup.service"] },
      // Not "start": this also replaces a running daemon, and the apps keep running.
      { words: [...systemctl, "restart", "procsup.service"], live: true },
      ...(user ? [LINGER] : []),
    ],
    disable: [
      { words: [...systemctl, "stop", "procsup.service"], live: true },
      { words: [...systemctl, "disable", "procsup.service"] },
    ],
    removed: [reload],
    status: [...systemctl, "status", "--no-pager", "procsup.service"],
  };
}

/** Without it a user's service manager runs only while the user is signed in. */
const LINGER: Step = {
  words: ["loginctl", "enable-linger"],
  live: true,
  advice: "The apps end when you sign out, until this is done: sudo loginctl enable-linger $USER",
};

function unitSection({ scope, home }: UnitRequest): string[] {
  // Apps may need the network at once. A user's service manager starts after that anyway.
  const after = scope === "user" ? [] : [
    "Wants=network-online.target",
    "After=network-online.target remote-fs.target",
    `RequiresMountsFor=${quoted(specifiers(home))}`,
  ];
  return [
    "[Unit]",
    "Description=procsup, keeps apps running",
    ...after,
    "# However often it fails, it is started again.",
    "StartLimitIntervalSec=0",
    "",
  ];
}

function serviceSection({ words, home, userHome, path, version }: UnitRequest): string[] {
  const start = [...words, "daemon", "--home", home].map((word) => commandWord(word)).join(" ");
  const variables = [`HOME=${userHome}`, `PATH=${absoluteEntries(path)}`];
  return [
    "[Service]",
    "Type=notify",
    "NotifyAccess=main",
    `ExecStart=${start}`,
    'ExecReload=/bin/sh -c "kill -HUP ${MAINPID}"',
    ...variables.map((variable) => `Environment=${quoted(specifiers(variable))}`),
    "SyslogIdentifier=procsup",
    "Restart=always",
    "RestartSec=500ms",
    ...(version >= SUBGROUPS ? ["RestartSteps=6", "RestartMaxDelaySec=30"] : []),
    "WatchdogSec=2min",
    "# Only the daemon is stopped: apps keep running, and the next daemon adopts them. When the machine",
    "# shuts down, the daemon stops them in order, and asks for the time that this takes.",
    "KillMode=process",
    "# A group for each app, with limits where the daemon itself is in a group below this unit's.",
    "Delegate=yes",
    ...(version >= SUBGROUPS ? ["DelegateSubgroup=daemon"] : []),
    "OOMPolicy=continue",
    "# These apply to the apps too: nothing stricter than without systemd, and no sandbox.",
    "TasksMax=infinity",
    "LimitNOFILE=524288",
    "",
  ];
}
