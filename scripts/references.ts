/** Writes the parts of the documentation that are derived from tables in the program. */

import type { Command } from "../src/cli/command.ts";
import {
  configFlags,
  ENGINE_FLAGS,
  type Flag,
  GLOBAL_FLAGS,
  PLACE_FLAGS,
} from "../src/cli/flags.ts";
import { COMMANDS } from "../src/cli/command_table.ts";
import {
  counterpart,
  type Engine,
  ENGINE_TITLES,
  ENGINES,
  EXPORTED_KEYS,
  lackOf,
} from "../src/export/engines.ts";
import { EXIT_CODES, flagRow, hasStartFlags, referenceFlags } from "../src/cli/commands/help.ts";
import { ERROR_TABLE } from "../src/model/errors.ts";
import { CHANGE_MEANINGS, END_CAUSES } from "../src/model/process_info.ts";
import { REST_ROWS } from "../src/verbs/mod.ts";
import { REST_BASE } from "../src/protocol/version.ts";
import { openApi } from "../src/web/openapi.ts";

const SHOWN = COMMANDS.filter(({ hidden }) => !hidden);

/** The content of `src/docs/commands.md`. */
export function commandReference(): string {
  const groups = Map.groupBy(SHOWN, ({ group }) => group);
  return page("Commands", "the command table in src/cli/command_table.ts", [
    `\`\`\`sh
procsup help                 # all commands, targets, exit codes and topics
procsup help start           # one command, with the flags that people use
procsup help start --all     # with every flag
procsup help restarts        # one page of the documentation
procsup help --man | man -l -  # the man page
procsup completion bash      # completion for a shell
\`\`\``,
    "Flags may stand anywhere before `--`.",
    "## Flags of every command",
    flagTable(GLOBAL_FLAGS),
    "## Flags of several commands",
    "The section of a command names those that it takes.",
    flagTable([...SHARED_FLAGS.values()]),
    `Those for \`--on\` are in [Flags and keys by engine](engines.md#flags).`,
    ...[...groups].flatMap(([group, commands]) => [`## ${group}`, ...commands.map(commandText)]),
  ]);
}

/** Flags that more than one command has, by their rows. The keys of an app are with `start`. */
const SHARED_FLAGS = sharedFlags();

function sharedFlags(): ReadonlyMap<string, Flag> {
  const rows = Map.groupBy(SHOWN.flatMap(referenceFlags), rowText);
  const keys = new Set(configFlags().map(rowText));
  const shared = [...rows].filter(([row, flags]) => flags.length > 1 && !keys.has(row));
  return new Map(shared.map(([row, [flag]]) => [row, flag!]));
}

function rowText(flag: Flag): string {
  return flagRow(flag).join(" ");
}

function isShared(flag: Flag): boolean {
  return SHARED_FLAGS.has(rowText(flag));
}

function commandText(command: Command): string {
  const { name, usage, summary, aliases, examples, page } = command;
  const flags = referenceFlags(command);
  const own = flags.filter((flag) => !isShared(flag));
  const shared = flags.filter(isShared).map(({ name }) => `\`--${name}\``);
  const others = Object.keys(aliases ?? {}).map((alias) => `\`${alias}\``);
  return [
    `### ${name}`,
    `\`procsup ${`${name} ${usage}`.trim()}\``,
    `${summary}.${others.length === 0 ? "" : ` Also called ${others.join(", ")}.`} See ` +
    `[${page}](${page}.md).`,
    ...(own.length === 0 ? [] : [flagTable(own)]),
    ...(hasStartFlags(command) ? ["Also the flags of [start](#start) that change an app."] : []),
    ...(shared.length === 0 ? [] : [`Shared flags: ${shared.join(", ")}.`]),
    ...(examples.length === 0 ? [] : [`\`\`\`sh\n${examples.join("\n")}\n\`\`\``]),
  ].join("\n\n");
}

function flagTable(flags: readonly Flag[]): string {
  return table(["Flag", "Meaning"], flags.map(flagRow).map(([left, help]) => [code(left), help]));
}

/** The content of `src/docs/errors.md`. */
export function errorReference(): string {
  return page("Errors and exit codes", "the tables in src/model/errors.ts and src/cli", [
    `\`\`\`sh
procsup status api -q || echo down     # 3: it is not running
procsup wait api --timeout 30s         # 124: it took longer
procsup wait job --for exit            # the app's own exit code
procsup status                         # 5: no daemon answers
\`\`\``,
    "The command line exits with one of these codes. `procsup wait --for exit`, `run` and `attach` " +
    "exit with that of the app.",
    table(["Exit code", "Means"], EXIT_CODES),
    "An error has the same code on every surface: as `code` in the JSON of REST, the socket and " +
    "MCP, and of a `ProcsupError` in the library. Codes are stable; messages are for people. With " +
    "`--json` a command that fails before it prints anything prints the error to stdout too.",
    table(
      ["Code", "Means", "HTTP", "Exit code", "Page"],
      Object.entries(ERROR_TABLE).map(([code, { http, exit, means, page }]) =>
        [`\`${code}\``, means, http, exit, `[${page}](${page}.md)`].map(String)
      ),
    ),
  ]);
}

/** The content of `src/docs/journal.md`. */
export function eventReference(): string {
  return page("Events", "the table in src/model/process_info.ts", [
    `\`\`\`sh
procsup events -f                          # the last ones, then as it happens
procsup events api --since yesterday       # what happened
procsup events -o jsonl                    # one object per line
curl -H "Authorization: Bearer $TOKEN" http://127.0.0.1:9615/api/v1/events
curl -H "Authorization: Bearer $TOKEN" \\
  "http://127.0.0.1:9615/api/v1/events/history?type=crashed&since=24h&limit=50"
\`\`\``,
    "`GET /events` streams new events. `GET /events/history` answers with those on record, filtered " +
    "by target, time, type and words; `next` of its answer, given as `before`, continues with " +
    "older ones.",
    "A name means every process that has or had it. An id means one process. A tag, namespace or " +
    "label means the processes that have it, in a stream also those that come later; past events " +
    "of deleted processes are found by name only.",
    "The command line, REST, the WebSocket, the library and the client have the same events.",
    table(
      ["Type", "Happens when"],
      Object.entries(CHANGE_MEANINGS).map(([type, meaning]) => [`\`${type}\``, meaning]),
    ),
    "An event has `type`, `at`, `id`, `name`, `state`, `pid`, `restarts`, `reason` and `exit`. " +
    "`exit` has the `code` and `signal` of the last run that ended, null before the first end. A stream that " +
    "follows ends with `upgrading` (another daemon continues) or `shutdown`.",
    "The first event after the end of a run has its `cause`:",
    table(
      ["Cause", "Why the run ended"],
      Object.entries(END_CAUSES).map(([cause, meaning]) => [`\`${cause}\``, meaning]),
    ),
    "[Webhooks](webhooks.md) have events of their own. [Hooks](hooks.md) run commands.",
  ]);
}

/** The content of `src/docs/engines.md`. */
export function engineReference(): string {
  const cell = (key: string, engine: Engine) =>
    lackOf(key, engine) === undefined ? counterpart(key, engine) : `none: ${lackOf(key, engine)}`;
  return page("Flags and keys by engine", "the table in src/export/engines.ts", [
    `\`\`\`sh
procsup export kubernetes procsup.yaml             # keys without a counterpart become comments
procsup export kubernetes procsup.yaml --strict    # or an error
\`\`\``,
    "## Flags",
    "Each needs `--on`, or a [context](remote.md#contexts) that names an engine, and is refused " +
    "otherwise.",
    table(
      ["Flag", "Meaning", "Commands"],
      ENGINE_FLAGS.map((flag) => [
        ...[code(flagRow(flag)[0]), flag.help],
        PLACE_FLAGS.includes(flag) ? "all with `--on`" : "`up`",
      ]),
    ),
    "## Keys",
    "What each [key](keys.md) is called by `procsup export`. `=`: procsup acts on the key inside the " +
    "container. See [Beyond one machine](beyond.md).",
    table(
      ["Key", ...Object.values(ENGINE_TITLES)],
      EXPORTED_KEYS.map((key) => [`\`${key}\``, ...ENGINES.map((engine) => cell(key, engine))]),
    ),
  ]);
}

interface Operation {
  readonly summary: string;
  readonly parameters?: readonly { readonly in: string; readonly name: string }[];
  readonly requestBody?: unknown;
}

/** The content of `src/docs/routes.md`. */
export function routeReference(): string {
  const paths = openApi().paths as Readonly<Record<string, Record<string, Operation>>>;
  const rows = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, { summary, parameters = [], requestBody }]) => {
      const query = parameters.filter((one) => one.in === "query").map(({ name }) => name);
      const takes = [...query, ...(requestBody === undefined ? [] : ["a body"])].join(", ");
      return [`\`${method.toUpperCase()} ${path}\``, summary, takes, roleOf(method, path)];
    })
  );
  return page("REST routes", "the OpenAPI document", [
    `\`\`\`sh
procsup web start
curl -H "Authorization: Bearer $TOKEN" http://127.0.0.1:9615/openapi.json
curl -H "Authorization: Bearer $TOKEN" http://127.0.0.1:9615/api/v1/processes
curl -X POST -H "Authorization: Bearer $TOKEN" http://127.0.0.1:9615/api/v1/processes/api/restart
\`\`\``,
    "`/openapi.json` has the types of parameters, bodies and answers. `{id}` is a " +
    "[target](targets.md). See [REST and metrics](rest.md).",
    table(["Route", "Does", "Takes", "Role"], rows),
  ]);
}

function roleOf(method: string, path: string): string {
  const found = REST_ROWS.find(({ row }) =>
    row.method.toLowerCase() === method && REST_BASE + row.path === path
  );
  if (found !== undefined) return found.verb.role;
  const isSignIn = (method === "post" && path.endsWith("/session")) || path.endsWith("/proof");
  return path === "/livez" || isSignIn ? "open" : "read";
}

function page(title: string, from: string, parts: readonly string[]): string {
  const [example, ...rest] = parts;
  const comment = `<!-- Written by deno task dashboard from ${from}. -->`;
  return [`# ${title}`, example, comment, ...rest].join("\n\n") + "\n";
}

function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  return [header, header.map(() => "---"), ...rows]
    .map((cells) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`)
    .join("\n");
}

function code(text: string): string {
  return `\`${text.trim()}\``;
}
