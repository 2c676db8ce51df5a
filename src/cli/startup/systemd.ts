/** The unit for systemd: systemd.service(5), systemd.kill(5), systemd.resource-control(5). */

import { absoluteEntries, type Step, type Unit, type UnitRequest } from "./unit.ts";

/** From here on a unit may keep its main process in a group below its own, and back off. */
const SUBGROUPS = 254;

/**
 * The unit. There is no sandbox in it, and no changed priority: all of that would be the apps' too.
 */
export function systemdUnit(request: UnitRequest): Unit {
  const { scope, userHome } = request;
  const user = scope === "user";
  const systemctl = ["systemctl", ...(user ? ["--user"] : [])];
  const reload: Step = { words: [...systemctl, "daemon-reload"], live: true };
  return {
    path: user
      ? `${userHome}/.config/systemd/user/procsup.service`
      : "/etc/systemd/system/procsup.service",
    text: [...unitSection(request), ...serviceSection(request), ...installSection(user)].join("\n"),
    mode: 0o644,
    enable: [
      reload,
      { words: [...systemctl, "enable", "procsup.service"] },
      // Not "start": one that runs is replaced too, and no app notices.
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

/** Without it a user's service manager is there only while the user is signed in. */
const LINGER: Step = {
  words: ["loginctl", "enable-linger"],
  live: true,
  advice: "The apps end when you sign out, until this is done: sudo loginctl enable-linger $USER",
};

function unitSection({ scope, home }: UnitRequest): string[] {
  // Apps may want the network at once. A user's service manager comes after all that anyway.
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
  const start = [...words, "daemon", "--home", home].map(commandWord).join(" ");
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
    "RestartSec=1",
    ...(version >= SUBGROUPS ? ["RestartSteps=6", "RestartMaxDelaySec=30"] : []),
    "WatchdogSec=2min",
    "# The daemon alone is ended: apps run on, and the next daemon takes them up. When the machine",
    "# goes down, the daemon stops them in order, and asks for the time that this takes.",
    "KillMode=process",
    "# A group for each app, with limits where the daemon itself is in a group below this unit's.",
    "Delegate=yes",
    ...(version >= SUBGROUPS ? ["DelegateSubgroup=daemon"] : []),
    "OOMPolicy=continue",
    "# These are the apps' as well: nothing stricter than without systemd, and no sandbox.",
    "TasksMax=infinity",
    "LimitNOFILE=524288",
    "",
  ];
}

function installSection(user: boolean): string[] {
  return ["[Install]", `WantedBy=${user ? "default.target" : "multi-user.target"}`, ""];
}

/** A `%` begins a specifier in nearly every setting. */
function specifiers(text: string): string {
  return text.replace(/%/g, "%%");
}

/** A `$` begins a variable in command lines, and nowhere else. */
function commandWord(word: string): string {
  return quoted(specifiers(word).replace(/\$/g, "$$$$"));
}

function quoted(text: string): string {
  return /^[\w@%+=:,./$-]+$/.test(text) ? text : JSON.stringify(text);
}
