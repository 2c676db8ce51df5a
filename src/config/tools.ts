/** The other tools whose files procsup reads, and the names of the files. */

/** How a file is read. */
export type FileKind =
  | "yaml"
  | "toml"
  | "json"
  | "jsonc"
  | "module"
  | "procfile"
  | "supervisord"
  | "process-compose"
  | "compose"
  | "mprocs"
  | "circus"
  | "systemd"
  | "crontab";

export type ToolName =
  | "pm2"
  | "process-compose"
  | "circus"
  | "supervisord"
  | "procfile"
  | "mprocs"
  | "pup"
  | "compose"
  | "systemd"
  | "crontab";

export interface Tool {
  readonly name: ToolName;
  /** Names of its files, and how they are read. A name with a slash is matched as a path. */
  readonly files: readonly (readonly [name: RegExp, kind: FileKind])[];
  /** How a file is read whose name tells nothing. */
  readonly kind: FileKind;
  /** The names that are searched in a folder, in this order. */
  readonly searched?: readonly string[];
  /** Set if too much is lost to run its files directly: they must be converted and reviewed first. */
  readonly convertOnly?: true;
}

/** In the order of the search. `import/readers.ts` has the reader of each. */
export const TOOLS: readonly Tool[] = [
  {
    name: "pm2",
    files: [
      [/^(ecosystem|pm2|process(es)?)\b.*\.json5?$|^dump\.pm2(\.bak)?$/i, "json"],
      [/^ecosystem.*\.[cm]?[jt]s$|^pm2.*\.config\.[cm]?[jt]s$/i, "module"],
    ],
    kind: "json",
    searched: ["ecosystem.config.js", "ecosystem.config.cjs", "ecosystem.config.mjs"],
  },
  {
    name: "process-compose",
    files: [[/^process-compose.*\.ya?ml$/i, "process-compose"]],
    kind: "process-compose",
    searched: ["process-compose.yaml", "process-compose.yml"],
  },
  {
    name: "circus",
    files: [[/^circus.*\.ini$/i, "circus"]],
    kind: "circus",
    searched: ["circus.ini"],
  },
  {
    name: "supervisord",
    files: [[/\.(conf|ini)$/i, "supervisord"]],
    kind: "supervisord",
    searched: ["supervisord.conf"],
  },
  {
    name: "procfile",
    files: [[/^Procfile(\..+)?$|\.procfile$/i, "procfile"]],
    kind: "procfile",
    searched: ["Procfile"],
  },
  {
    name: "mprocs",
    files: [[/^mprocs.*\.ya?ml$/i, "mprocs"]],
    kind: "mprocs",
    searched: ["mprocs.yaml", "mprocs.yml"],
  },
  {
    name: "pup",
    files: [[/^pup\.jsonc?$/i, "jsonc"]],
    kind: "jsonc",
    searched: ["pup.json", "pup.jsonc"],
  },
  {
    name: "compose",
    files: [[/^(docker-)?compose([-.].*)?\.ya?ml$/i, "compose"]],
    kind: "compose",
    convertOnly: true,
  },
  {
    name: "systemd",
    files: [[/\.(service|timer)$/, "systemd"]],
    kind: "systemd",
  },
  {
    name: "crontab",
    files: [[/^crontab([.-].+)?$|\.cron(tab)?$|\/cron\.d\/[^/.]+$/i, "crontab"]],
    kind: "crontab",
  },
];

/** The default files of docker compose, in its order. */
export const COMPOSE_FILES: readonly string[] = [
  ...["compose.yaml", "compose.yml", "docker-compose.yml", "docker-compose.yaml"],
];

export const TOOL_NAMES: readonly string[] = TOOLS.map(({ name }) => name);
