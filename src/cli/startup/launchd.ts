/** The property list for launchd: launchd.plist(5). */

import { absoluteEntries, type Unit, type UnitRequest } from "./unit.ts";

type Value = string | boolean | number | readonly string[] | { readonly [key: string]: Value };

/** Open files that a job may have; macOS gives it 256. */
const OPEN_FILES = 65_536;

/** The property list, an agent of the user's or a daemon of the machine's. */
export function launchdUnit({ scope, words, home, userHome, path: search }: UnitRequest): Unit {
  const user = scope === "user";
  const folder = `${user ? userHome : ""}/Library/${user ? "LaunchAgents" : "LaunchDaemons"}`;
  const path = `${folder}/procsup.plist`;
  const job: Value = {
    Label: "procsup",
    ProgramArguments: [...words, "daemon", "--home", home],
    EnvironmentVariables: { HOME: userHome, PATH: absoluteEntries(search) },
    RunAtLoad: true,
    KeepAlive: true,
    // The apps outlive the daemon, which takes them up again at its next start.
    AbandonProcessGroup: true,
    // They inherit what the job is given: no throttling.
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
    // One that is loaded already is not read again.
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
