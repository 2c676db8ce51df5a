/** What each service manager is given: the file, where it goes, and the commands around it. */

import type { ServiceManager } from "../../platform/service_manager.ts";

/** Who and what is to be started at boot. */
export interface UnitRequest {
  /** For the machine, as root's, or for one user's session. */
  readonly scope: "system" | "user";
  /** Words that start procsup. */
  readonly words: readonly string[];
  readonly home: string;
  readonly userHome: string;
}

/** A file for a service manager. */
export interface Unit {
  readonly path: string;
  readonly text: string;
  readonly mode: number;
  /** Commands that make it known and start it; and those that undo it. */
  readonly enable: readonly (readonly string[])[];
  readonly disable: readonly (readonly string[])[];
  readonly status: readonly string[];
}

/** The unit of a service manager. */
export function unitFor(manager: ServiceManager, request: UnitRequest): Unit {
  return { systemd, launchd, openrc }[manager](request);
}

/** KillMode=process: the apps outlive the daemon, which takes them up again at its next start. */
function systemd({ scope, words, home, userHome }: UnitRequest): Unit {
  const user = scope === "user";
  const flag = user ? ["--user"] : [];
  const text = `[Unit]
Description=procsup, keeps apps running
After=network.target

[Service]
Type=simple
ExecStart=${[...words, "daemon", "--home", home].map(systemdWord).join(" ")}
ExecReload=/bin/kill -HUP $MAINPID
Restart=always
RestartSec=1
KillMode=process
Delegate=yes
TasksMax=infinity
Environment=${systemdWord(`HOME=${userHome}`)}

[Install]
WantedBy=${user ? "default.target" : "multi-user.target"}
`;
  return {
    path: user
      ? `${userHome}/.config/systemd/user/procsup.service`
      : "/etc/systemd/system/procsup.service",
    text,
    mode: 0o644,
    enable: [
      ["systemctl", ...flag, "daemon-reload"],
      ["systemctl", ...flag, "enable", "--now", "procsup.service"],
      ...(user ? [["loginctl", "enable-linger"]] : []),
    ],
    disable: [["systemctl", ...flag, "disable", "--now", "procsup.service"]],
    status: ["systemctl", ...flag, "status", "--no-pager", "procsup.service"],
  };
}

function systemdWord(word: string): string {
  const safe = word.replace(/%/g, "%%").replace(/\$/g, "$$$$");
  return /^[\w@%+=:,./$-]+$/.test(safe) ? safe : JSON.stringify(safe);
}

function launchd({ scope, words, home, userHome }: UnitRequest): Unit {
  const path = scope === "user"
    ? `${userHome}/Library/LaunchAgents/procsup.plist`
    : "/Library/LaunchDaemons/procsup.plist";
  const args = [...words, "daemon", "--home", home]
    .map((word) => `    <string>${xml(word)}</string>`).join("\n");
  return {
    path,
    text: `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key><string>procsup</string>
  <key>ProgramArguments</key>
  <array>
${args}
  </array>
  <key>EnvironmentVariables</key><dict><key>HOME</key><string>${xml(userHome)}</string></dict>
  <key>RunAtLoad</key><true/>
  <key>KeepAlive</key><true/>
  <key>AbandonProcessGroup</key><true/>
</dict>
</plist>
`,
    mode: 0o644,
    enable: [["launchctl", "load", "-w", path]],
    disable: [["launchctl", "unload", "-w", path]],
    status: ["launchctl", "list", "procsup"],
  };
}

function xml(text: string): string {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}

function openrc({ words, home, userHome }: UnitRequest): Unit {
  const [program, ...args] = [...words, "daemon", "--home", home].map(shellWord);
  return {
    path: "/etc/init.d/procsup",
    text: `#!/sbin/openrc-run
description="procsup, keeps apps running"
supervisor=supervise-daemon
command=${program}
command_args=${shellWord(args.join(" "))}
export HOME=${shellWord(userHome)}
respawn_delay=1
respawn_max=0

depend() {
  need net
}
`,
    mode: 0o755,
    enable: [["rc-update", "add", "procsup", "default"], ["rc-service", "procsup", "start"]],
    disable: [["rc-service", "procsup", "stop"], ["rc-update", "del", "procsup", "default"]],
    status: ["rc-service", "procsup", "status"],
  };
}

function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replace(/'/g, `'\\''`)}'`;
}
