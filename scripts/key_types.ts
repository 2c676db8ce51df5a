/** Derives texts from the key table: the types of a configuration, and the key reference. */

import {
  flagName,
  type Key,
  type KeyTable,
  memoryName,
  type ValueType,
} from "../src/model/key_table.ts";
import { PROCESS_KEYS } from "../src/model/process_keys.ts";
import { WEB_KEYS, WEBHOOK_KEYS } from "../src/model/settings_keys.ts";

const AHEAD =
  "Written by deno task dashboard from the key table (process_keys.ts): change it there.";

/** The content of `src/model/process_config.ts`. */
export function configTypes(): string {
  const named = new Map<string, string>();
  const config = interfaceText("ProcessConfig", PROCESS_KEYS, named);
  return [
    `/** The configuration of a process, checked and with every default. ${AHEAD} */\n`,
    'import type { SignalName } from "./signal.ts";\n',
    "/** The validated configuration of a process. Numbers carry their unit in the name. */",
    config,
    ...named.values(),
    "/** The points at which hooks run. */\nexport type HookName = keyof HooksConfig;",
  ].join("\n");
}

function interfaceText(name: string, keys: KeyTable, named: Map<string, string>): string {
  const lines = Object.entries(keys).flatMap(([key, row]) => {
    if (row.input) return [];
    const optional = row.required || row.default !== undefined ? "" : "?";
    return [
      `  /** ${sentences(row)} */`,
      `  readonly ${memoryName(key, row)}${optional}: ${typeText(row, named)};`,
    ];
  });
  return `export interface ${name} {\n${lines.join("\n")}\n}\n`;
}

function typeText(type: ValueType, named: Map<string, string>): string {
  switch (type.type) {
    case "boolean":
      return "boolean";
    case "int":
    case "number":
    case "duration":
    case "size":
      return "number";
    case "signal":
      return "SignalName";
    case "choice":
      return choiceText(type, named);
    case "either":
      return type.of.map((one) => typeText(one, named)).join(" | ");
    case "list":
      return type.of.type === "either"
        ? `readonly (${typeText(type.of, named)})[]`
        : `readonly ${typeText(type.of, named)}[]`;
    case "map":
      return `Readonly<Record<string, ${typeText(type.of, named)}>>`;
    case "object":
      if (!named.has(type.named)) {
        // Insert the type before its parts, to keep the order of the file.
        named.set(type.named, "");
        const text = interfaceText(type.named, type.keys, named);
        named.set(type.named, `/** ${titleOf(type.named)} */\n${text}`);
      }
      return type.named;
    default:
      return "string";
  }
}

function choiceText(
  { choices, named: name }: Extract<ValueType, { type: "choice" }>,
  named: Map<string, string>,
): string {
  const text = choices.map((choice) => JSON.stringify(choice)).join(" | ");
  if (name === undefined) return text;
  named.set(name, `/** ${titleOf(name)} */\nexport type ${name} = ${text};\n`);
  return name;
}

const TITLES: Readonly<Record<string, string>> = {
  RuntimeName: "Determines the command line of an entrypoint; `auto` detects it from files.",
  EnvFileConfig: "A file of variables that may be missing.",
  SecretSource: "Where to get the value of a secret: exactly one of these.",
  DependencyCondition: "The state that a dependency must reach.",
  RestartPolicy: "When to restart a process that has ended.",
  StopMode: "Whom a stop signals.",
  CronRestartConfig: "A schedule of restarts.",
  WatchConfig: "What to do when files change.",
  ExpectConfig: "What the answer to a check must be.",
  HealthCheckConfig: "How a process is checked while it runs.",
  CronConfig: "A schedule of runs.",
  HooksConfig: "Hooks by the point at which they run.",
  AlertConfig: "A condition that is reported when it begins to hold, and when it no longer does.",
  HookConfig: "A shell command run at a point of a process's life.",
  LimitsConfig: "Resource limits. cgroup limits apply to the process tree.",
  LogConfig: "How logs are written and rotated.",
};

function titleOf(name: string): string {
  const title = TITLES[name];
  if (title === undefined) throw new Error(`the type ${name} has no title`);
  return title;
}

function sentences({ help, note }: Key): string {
  return [`${help}.`, note].filter(Boolean).join(" ");
}

/** The key reference: a table for each group of keys. */
export function keyReference(): string {
  const groups = Map.groupBy(Object.entries(PROCESS_KEYS), ([, { group }]) => group!);
  const objects = new Map<string, KeyTable>();
  const parts = [...groups].map(([name, keys]) => {
    const table = Object.fromEntries(keys);
    for (const [key, row] of keys) {
      const inner = row.type === "map" || row.type === "list" ? row.of : row;
      if (inner.type === "object") objects.set(key, inner.keys);
    }
    return `## ${name}\n\n${tableText(table)}`;
  });
  const hook = (PROCESS_KEYS.hooks as Extract<ValueType, { type: "object" }>).keys.pre_start!;
  if (hook.type === "object") objects.set("a hook", hook.keys);
  const nested = [...objects].map(([key, keys]) =>
    `## Keys of ${/^[a-z_]+$/.test(key) ? `\`${key}\`` : key}\n\n${tableText(keys)}`
  );
  return [
    "# Configuration keys",
    INTRODUCTION,
    ...parts,
    ...nested,
    `## Keys of \`web\`\n\n${tableText(WEB_KEYS)}`,
    `## Keys of an entry of \`webhooks\`\n\n${tableText(WEBHOOK_KEYS)}`,
  ].join("\n\n") + "\n";
}

const INTRODUCTION = `\`\`\`yaml
processes:
  api:
    entrypoint: server.js
    max_memory: 512MB
\`\`\`

<!-- Written by deno task dashboard from the key tables in src/model. -->

The same keys are used in files, REST, IPC, MCP and saved state. The library takes them in camelCase.
A duration is text such as \`1m30s\` or a number of nanoseconds, a size text such as \`512MB\` or a
number of bytes. **Live** keys take effect while the process runs; a change of any other key restarts
it. Values of **masked** keys are never shown. In **\${VAR}** keys, files fill in environment
variables.`;

function tableText(keys: KeyTable): string {
  const rows = Object.entries(keys).map(([key, row]) =>
    [keyCell(key, row), typeCell(row), defaultCell(row), meaningCell(key, row)]
      .map((cell) => cell.replaceAll("|", "\\|")).join(" | ")
  );
  return ["| Key | Type | Default | Meaning |", "| --- | --- | --- | --- |"]
    .concat(rows.map((row) => `| ${row} |`)).join("\n");
}

function keyCell(key: string, { aliases = [] }: Key): string {
  return [key, ...aliases].map((name) => `\`${name}\``).join(", ");
}

function typeCell(type: ValueType): string {
  switch (type.type) {
    case "choice":
      return type.choices.map((choice) => `\`${choice}\``).join(", ");
    case "int":
    case "number":
      return [type.type === "int" ? "integer" : "number", rangeText(type)].filter(Boolean).join(
        " ",
      );
    case "list":
      return `list of ${typeCell(type.of)}${type.single ? ", or one" : ""}`;
    case "map":
      return `map of ${typeCell(type.of)}`;
    case "either":
      return type.of.map(typeCell).join(" or ");
    case "object":
      return [...(type.short ?? []).map(({ of }) => typeCell(of)), "object"].join(" or ");
    case "duration":
    case "size":
      return type.least === undefined ? type.type : `${type.type} from \`${type.least}\``;
    default:
      return type.type;
  }
}

function rangeText({ min, max }: { min?: number; max?: number }): string {
  if (min === undefined) return max === undefined ? "" : `up to ${max}`;
  return max === undefined ? `from ${min}` : `${min} to ${max}`;
}

function defaultCell({ required, default: value }: Key): string {
  if (required) return "required";
  const isEmpty = typeof value === "object" && value !== null && Object.keys(value).length === 0;
  if (value === undefined || value === "" || isEmpty) return "";
  return `\`${typeof value === "string" ? value : JSON.stringify(value)}\``;
}

function meaningCell(key: string, row: Key): string {
  const facts = [
    row.live && "Live.",
    row.masked === "always" && "Masked.",
    row.masked === "in url" && "User, password and query values are masked.",
    row.variables && "`${VAR}`.",
    row.flag && `Flag \`--${flagName(key, row)}\`.`,
  ];
  return [sentences(row), ...facts].filter(Boolean).join(" ");
}
