/** The other tools whose files procsup reads: all that the program knows of this member. */

import type { Tool } from "../config/tools.ts";

export type { Findings } from "./import_file.ts";

/** In the order of the search. */
export const TOOLS: readonly Tool[] = [
  {
    name: "pm2",
    files: [
      [/^(ecosystem|pm2|process(es)?)\b.*\.json5?$|^dump\.pm2(\.bak)?$/i, "json"],
      [/^ecosystem.*\.[cm]?[jt]s$|^pm2.*\.config\.[cm]?[jt]s$/i, "module"],
    ],
    kind: "json",
    format: "json",
    searched: ["ecosystem.config.js", "ecosystem.config.cjs", "ecosystem.config.mjs"],
    expressions: /^(ecosystem|pm2|process(es)?)\b.*\.json5?$/,
    importer: async () => (await import("./pm2.ts")).pm2,
  },
  {
    name: "process-compose",
    files: [[/^process-compose.*\.ya?ml$/i, "process-compose"]],
    kind: "process-compose",
    format: "yaml",
    searched: ["process-compose.yaml", "process-compose.yml"],
    importer: async () => (await import("./process_compose.ts")).processCompose,
  },
  {
    name: "circus",
    files: [[/^circus.*\.ini$/i, "circus"]],
    kind: "circus",
    format: "text",
    searched: ["circus.ini"],
    importer: async () => (await import("./circus.ts")).circus,
  },
  {
    name: "supervisord",
    files: [[/\.(conf|ini)$/i, "supervisord"]],
    kind: "supervisord",
    format: "text",
    searched: ["supervisord.conf"],
    importer: async () => (await import("./supervisord.ts")).supervisord,
  },
  {
    name: "procfile",
    files: [[/^Procfile(\..+)?$|\.procfile$/i, "procfile"]],
    kind: "procfile",
    format: "text",
    searched: ["Procfile"],
    importer: async () => (await import("./procfile.ts")).procfile,
  },
  {
    name: "mprocs",
    files: [[/^mprocs.*\.ya?ml$/i, "mprocs"]],
    kind: "mprocs",
    format: "yaml",
    searched: ["mprocs.yaml", "mprocs.yml"],
    importer: async () => (await import("./mprocs.ts")).mprocs,
  },
  {
    name: "pup",
    files: [[/^pup\.jsonc?$/i, "jsonc"]],
    kind: "jsonc",
    format: "jsonc",
    searched: ["pup.json", "pup.jsonc"],
    importer: async () => (await import("./pup.ts")).pup,
  },
  {
    name: "compose",
    files: [[/^(docker-)?compose([-.].*)?\.ya?ml$/i, "compose"]],
    kind: "compose",
    format: "yaml",
    // The default files of docker compose, in its order.
    searched: ["compose.yaml", "compose.yml", "docker-compose.yml", "docker-compose.yaml"],
    convertOnly: true,
    importer: async () => (await import("./compose.ts")).compose,
  },
  {
    name: "systemd",
    files: [[/\.(service|timer)$/, "systemd"]],
    kind: "systemd",
    format: "text",
    importer: async () => (await import("./systemd.ts")).systemd,
  },
  {
    name: "crontab",
    files: [[/^crontab([.-].+)?$|\.cron(tab)?$|\/cron\.d\/[^/.]+$/i, "crontab"]],
    kind: "crontab",
    format: "text",
    importer: async () => (await import("./crontab.ts")).crontab,
  },
];

export const TOOL_NAMES: readonly string[] = TOOLS.map(({ name }) => name);

/** Loads the conversion of a file. */
export function loadImport() {
  return import("./import_file.ts");
}
