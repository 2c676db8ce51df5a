/** The other tools whose files procsup reads: the names of the files, and what reads them. */

import type { FileKind } from "./file_kind.ts";
import type { Importer } from "./import/imported.ts";

export interface Tool {
  readonly name: string;
  /** Names of its files, and how they are read. A name with a slash is matched as a path. */
  readonly files: readonly (readonly [name: RegExp, kind: FileKind])[];
  /** How a file is read whose name tells nothing. */
  readonly kind: FileKind;
  /** The names that are searched in a folder, in this order. */
  readonly searched?: readonly string[];
  /** Set if too much is lost to run its files directly: they must be converted and reviewed first. */
  readonly convertOnly?: true;
  readonly reader: () => Promise<Importer>;
}

/** In the order of the search. */
export const TOOLS: readonly Tool[] = [
  {
    name: "pm2",
    files: [
      [/^(ecosystem|pm2|process(es)?)\b.*\.json5?$|^dump\.pm2(\.bak)?$/i, "json"],
      [/^ecosystem.*\.[cm]?[jt]s$|^pm2.*\.config\.[cm]?[jt]s$/i, "module"],
    ],
    kind: "json",
    searched: ["ecosystem.config.js", "ecosystem.config.cjs", "ecosystem.config.mjs"],
    reader: async () => (await import("./import/pm2.ts")).pm2,
  },
  {
    name: "process-compose",
    files: [[/^process-compose.*\.ya?ml$/i, "process-compose"]],
    kind: "process-compose",
    searched: ["process-compose.yaml", "process-compose.yml"],
    reader: async () => (await import("./import/process_compose.ts")).processCompose,
  },
  {
    name: "circus",
    files: [[/^circus.*\.ini$/i, "circus"]],
    kind: "circus",
    searched: ["circus.ini"],
    reader: async () => (await import("./import/circus.ts")).circus,
  },
  {
    name: "supervisord",
    files: [[/\.(conf|ini)$/i, "supervisord"]],
    kind: "supervisord",
    searched: ["supervisord.conf"],
    reader: async () => (await import("./import/supervisord.ts")).supervisord,
  },
  {
    name: "procfile",
    files: [[/^Procfile(\..+)?$|\.procfile$/i, "procfile"]],
    kind: "procfile",
    searched: ["Procfile"],
    reader: async () => (await import("./import/procfile.ts")).procfile,
  },
  {
    name: "mprocs",
    files: [[/^mprocs.*\.ya?ml$/i, "mprocs"]],
    kind: "mprocs",
    searched: ["mprocs.yaml", "mprocs.yml"],
    reader: async () => (await import("./import/mprocs.ts")).mprocs,
  },
  {
    name: "pup",
    files: [[/^pup\.jsonc?$/i, "jsonc"]],
    kind: "jsonc",
    searched: ["pup.json", "pup.jsonc"],
    reader: async () => (await import("./import/pup.ts")).pup,
  },
  {
    name: "compose",
    files: [[/^(docker-)?compose([-.].*)?\.ya?ml$/i, "compose"]],
    kind: "compose",
    convertOnly: true,
    reader: async () => (await import("./import/compose.ts")).compose,
  },
  {
    name: "systemd",
    files: [[/\.(service|timer)$/, "systemd"]],
    kind: "systemd",
    reader: async () => (await import("./import/systemd.ts")).systemd,
  },
  {
    name: "crontab",
    files: [[/^crontab([.-].+)?$|\.cron(tab)?$|\/cron\.d\/[^/]+$/i, "crontab"]],
    kind: "crontab",
    reader: async () => (await import("./import/crontab.ts")).crontab,
  },
];

/** The default files of docker compose, in its order. */
export const COMPOSE_FILES: readonly string[] = [
  ...["compose.yaml", "compose.yml", "docker-compose.yml", "docker-compose.yaml"],
];

export const TOOL_NAMES: readonly string[] = TOOLS.map(({ name }) => name);
