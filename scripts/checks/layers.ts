/** Which folder may import which: imports go one way, and never in a cycle. */

import { type Edge, reachedFrom } from "./import_graph.ts";

const BELOW_MANAGER = ["model", "platform", "logs", "runtimes", "process"];

/**
 * Folder, or file at the top → the folders it may import, besides itself.
 */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  docs: [],
  model: [],
  platform: ["model"],
  logs: ["model", "platform"],
  runtimes: ["model", "platform"],
  process: ["model", "platform", "logs", "runtimes"],
  schedules: ["model", "platform", "process"],
  library: ["model", "platform"],
  manager: [...BELOW_MANAGER, "schedules", "library"],
  config: ["model", "platform", "runtimes"],
  import: ["model", "platform", "config"],
  export: ["model", "platform", "runtimes", "config"],
  verbs: ["model"],
  protocol: ["verbs", "model", "platform"],
  contexts: ["model", "platform", "protocol"],
  auth: ["verbs", "protocol", "model", "platform"],
  web: ["docs", "auth", "manager", "verbs", "protocol", "model", "platform"],
  mcp: ["docs", "verbs", "protocol", "model", "manager"],
  daemon: [
    ...[...BELOW_MANAGER, "schedules", "manager", "config", "verbs", "protocol"],
    ...["contexts", "auth", "web", "mcp"],
  ],
  cli: [
    ...["docs", "verbs", "protocol", "contexts", "model", "config", "platform"],
    ...["import/mod.ts", "export/mod.ts"],
  ],
  client: ["library", "verbs", "protocol", "model", "platform"],
  "mod.ts": ["manager", "library", "model"],
  "client.ts": ["client", "library", "protocol", "model"],
  "config_entry.ts": ["model"],
  "main.ts": ["cli"],
  "web/dashboard/app": ["verbs", "protocol", "model", "platform"],
};

/** Workspace members: the program reaches the first two through `mod.ts` only, and the last never. */
const MEMBERS = ["import", "export", "web/dashboard/app"];

/** Folders that commands may load with `import()` only. */
const LAZY = { from: "src/cli/commands/", to: ["daemon", "mcp"] };

/** What the library must never reach. */
const NOT_IN_LIBRARY = /^src\/(daemon|web|cli|mcp)\/|^npm:\/?hono[@/]/;

/** One message for each import that is not allowed. */
export function layerViolations(edges: readonly Edge[]): string[] {
  return edges.flatMap((edge) => {
    const problem = problemOf(edge);
    return problem === undefined ? [] : [`${edge.from} imports ${edge.to}: ${problem}`];
  });
}

function problemOf(edge: Edge): string | undefined {
  const from = layerOf(edge.from);
  // A style sheet is served as it is.
  const to = edge.to.endsWith(".css") ? undefined : layerOf(edge.to);
  if (from === undefined || to === undefined || to === from) return undefined;
  const allowed = ALLOWED[from];
  if (allowed === undefined) return `${from} has no row in scripts/checks/layers.ts`;
  if (allowed.includes(to) || allowed.includes(edge.to.replace(/^src\//, ""))) return undefined;
  if (from === "cli" && LAZY.to.includes(to)) {
    if (edge.dynamic && edge.from.startsWith(LAZY.from)) return undefined;
    return `cli may import ${to} only by import() inside ${LAZY.from}`;
  }
  return `${from} may import ${allowed.length === 0 ? "nothing" : `only ${allowed.join(", ")}`}`;
}

/** The implementations of verbs lie beside their rows, and use what the daemon is made of. */
const HANDLERS = /^src\/verbs\/\w+\/(?!rows\.ts$)/;

/** `src/model/name.ts` → `model`, `src/mod.ts` → `mod.ts`; undefined outside of the program. */
function layerOf(path: string): string | undefined {
  if (HANDLERS.test(path)) return "daemon";
  const member = MEMBERS.find((name) => path.startsWith(`src/${name}/`));
  if (member !== undefined) return member;
  return path === "main.ts" ? path : /^src\/([^/]+)/.exec(path)?.[1];
}

/** One message for each forbidden module that the library reaches. */
export function libraryViolations(edges: readonly Edge[]): string[] {
  return [...reachedFrom("src/mod.ts", edges)]
    .filter((path) => NOT_IN_LIBRARY.test(path))
    .map((path) =>
      `src/mod.ts reaches ${path}: the library holds no daemon, web, cli, mcp or hono`
    );
}

/** The verb registry loads the schema library, so commands may import only its types. */
const NOT_IN_COMMANDS = "src/verbs/";

/** One message for each forbidden module that a command loads at startup. */
export function commandViolations(edges: readonly Edge[]): string[] {
  const loading = edges.filter(({ dynamic, typeOnly }) => !dynamic && !typeOnly);
  const commands = new Set(edges.map(({ from }) => from).filter((f) => f.startsWith(LAZY.from)));
  return ["main.ts", ...commands].flatMap((command) =>
    [...reachedFrom(command, loading)]
      .filter((path) => path.startsWith(NOT_IN_COMMANDS))
      .map((path) => `${command} loads ${path}: import only its types`)
  );
}

/** One message for each cycle, including types and `import()`, found by following the imports in order. */
export function cycleViolations(edges: readonly Edge[]): string[] {
  const imports = Map.groupBy(edges, (edge) => edge.from);
  const done = new Set<string>();
  const found: string[] = [];

  function follow(file: string, path: readonly string[]) {
    const start = path.indexOf(file);
    if (start >= 0) found.push(`${[...path.slice(start), file].join(" → ")}: import cycle`);
    if (start >= 0 || done.has(file)) return;
    for (const { to } of imports.get(file) ?? []) follow(to, [...path, file]);
    done.add(file);
  }

  for (const file of imports.keys()) follow(file, []);
  return found;
}
