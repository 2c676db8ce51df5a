/**
 * Maps commands and flags of PM2, supervisorctl, systemctl and compose tools to the procsup way.
 * Loaded only after a command line has failed.
 */

import { PAGES } from "../docs/pages.ts";
import { ProcsupError } from "../model/errors.ts";
import { COMMANDS } from "./command_table.ts";
import { findCommand } from "./command.ts";
import { ON_FLAGS } from "./flags.ts";
import type { UnknownWordError } from "./unknown_word.ts";
import { commandHint } from "../model/hint.ts";

const DEPLOYS = "procsup release <app> --from <source>; for code that you updated yourself: " +
  "procsup reload <target>";
const RENAME = "Names are permanent: procsup delete <target>, then start it under another";
const MODULES = "procsup has no modules; logs are rotated, and /metrics served by: procsup web";
const FILE_AND_CODE =
  "procsup start <file> applies what has changed in it; for new code: procsup reload <target>";
const IS_RUNNING = "procsup status <target> -q; its exit code 3 is not running";
const RESET = "procsup restart <target> resets its restart count";
const PAUSE = "procsup signal STOP <target>, and later procsup signal CONT <target>";
const BUILD = "Apps run from their folder: build there before; for an image: procsup image";
const PORTS = "procsup top shows the ports of an app, by p";

export const FOREIGN_COMMANDS: Readonly<Record<string, string>> = {
  "-f": "procsup up <file…>",
  add: "procsup up <file>",
  apply: "procsup up <file> --keep-stopped",
  avail: "procsup list for existing apps, procsup config plan <file> for new ones",
  backward: DEPLOYS,
  backup: "procsup save writes state/saved.json, which procsup resurrect reads on another machine",
  build: BUILD,
  cat: "procsup config show",
  check: "procsup config validate <file>",
  cleardump: "procsup save replaces the saved list",
  clear: "procsup flush <target>",
  connect: "procsup attach <target>",
  conf: "Settings are in the configuration file: procsup config show",
  dash: "procsup top",
  "daemon-reload": "procsup up <file>",
  deploy: DEPLOYS,
  diff: "procsup config plan <file>",
  disable: "procsup stop <target> survives reboots too, until procsup start <target>",
  ecosystem: "procsup start <script>, or procsup import pm2 ecosystem.config.js --out procsup.yaml",
  edit: "Edit the configuration file, then: procsup up <file>",
  enable: "procsup start <target>; for the daemon at boot: procsup startup install",
  env: "The names of the variables, without values: procsup status <target> -o yaml",
  exec: "procsup start -- <command> runs one beside the others",
  fg: "procsup attach <target>",
  forward: DEPLOYS,
  get: "Settings are in the configuration file: procsup config show",
  history: "procsup events <target> --since 24h, and for jobs: procsup cron history <target>",
  id: "procsup list -o json",
  inspect: "procsup status <target> -o json",
  install: MODULES,
  "is-active": IS_RUNNING,
  "is-enabled": "procsup startup status",
  "is-failed": IS_RUNNING,
  journal: "procsup logs <target>, and procsup events <target> --since 24h",
  journalctl: "procsup logs <target>, and procsup events <target> --since 24h",
  link: "procsup web",
  "list-units": "procsup list",
  "list-timers": "procsup cron list",
  maintail: "The daemon's own log is daemon.log in the folder that procsup status names",
  mask: "procsup stop <target> survives reboots too, until procsup start <target>",
  monitoring: "procsup web",
  namespace: "A namespace is a target: procsup list ns:<name>",
  open: "procsup --host user@server list; with a name for it: procsup context add",
  pause: PAUSE,
  plus: "procsup web",
  port: PORTS,
  ports: PORTS,
  process: "procsup list, procsup start, procsup stop …",
  project: "procsup status, and procsup up <file>",
  pid: "procsup status <target> -o pid",
  pull: DEPLOYS,
  reloadLogs: "Not needed: procsup rotates the logs itself",
  rename: RENAME,
  report: "procsup doctor",
  reread: "procsup config plan <file>",
  reset: RESET,
  "reset-failed": RESET,
  restore: "procsup resurrect",
  rollback: "procsup reload <target> --rollback restores the old configuration when one fails",
  set: "Settings are in the configuration file: procsup config show",
  slist: "procsup list -o yaml",
  softReload: "procsup reload <target>",
  startOrGracefulReload: FILE_AND_CODE,
  startOrReload: FILE_AND_CODE,
  startOrRestart: FILE_AND_CODE,
  stats: "procsup top, and over time: procsup metrics <target>",
  tail: "procsup logs <target> -f",
  timers: "procsup cron list",
  trigger: "procsup send <target> <text> writes to the app's standard input",
  "try-restart": "procsup restart <target>",
  uninstall: MODULES,
  unmask: "procsup start <target>",
  update: "procsup upgrade for the daemon, procsup up <file> for the apps",
  updatePM2: "procsup upgrade",
  watch:
    "procsup list --watch; to restart an app when files change: procsup restart <target> --watch",
};

const NEW_ENVIRONMENT = "procsup restart <target> --update-env";
const FILE_AGAIN =
  "procsup start <file>, with the same flag, applies what has changed in it; for new code: procsup reload <target>";
const OWN_LOGS = "Each app has its own log files, shown by procsup status: procsup logs -t";
const BY_COMMAND = "Write the whole command: procsup start --name <name> -- node --inspect app.js";
const FIRST_PORT = "PORT in .env is the port of the first process of a Procfile";
const INSTANCES = "instances in procsup.yaml";
const FOREGROUND = "procsup run -- <command>, or procsup start and then procsup logs <target> -f";
const BACKOFF = "The delay doubles by itself: --restart-delay 100ms --backoff-max 15s";
const SHOWN = "procsup startup shows the unit and changes nothing";
const NEEDLESS = "Not needed: leave it out";

/** Flags of other tools, and words after a command, by procsup command. */
export const FOREIGN_WORDS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  start: {
    "--all": "For every flag: procsup help start --all; for every app use the target all",
    "--attach": FOREGROUND,
    "--build": BUILD,
    "--daemon-off": FOREGROUND,
    "--disable-logs": "Each app has log files, rotated at 10MB: log.max_size in procsup.yaml",
    "--error": "Use --stderr FILE",
    "--exp-backoff-restart-delay": BACKOFF,
    "--filter-env": "inherit_env in procsup.yaml: false, or the variables to keep",
    "--force": "Give it another --name, or: procsup restart <target>",
    "-f": "Files need no flag: procsup start <file…>; for a name that is taken: --name <name>",
    "--dry-run": "procsup up <file> --dry-run",
    "--prune": "procsup up <file> --prune",
    "--remove-orphans": "procsup up <file> --prune",
    "--scale": "procsup scale <name> <N>, or instances in procsup.yaml",
    "--wait": "A start waits; --no-wait turns that off",
    "--gid": "gid in procsup.yaml",
    "--interpreter-args": BY_COMMAND,
    "--log": "Use --log-file FILE",
    "--log-date-format": OWN_LOGS,
    "--merge-logs": OWN_LOGS,
    "--no-autorestart": "Use --restart never",
    "--no-daemon": FOREGROUND,
    "--no-pmx": NEEDLESS,
    "--no-treekill": "A stop always ends every process that the app started",
    "--no-vizion": NEEDLESS,
    "--node-args": BY_COMMAND,
    "--parallel": "All start at once; dependents wait for their dependencies",
    "--pid": "procsup status <target> -o pid",
    "--shutdown-with-message": "Use --stop-signal NAME",
    "--source-map-support": "Use -e NODE_OPTIONS=--enable-source-maps",
    "--time": "procsup logs -t shows the times",
  },
  up: {
    "-f": "Files need no flag: procsup up <file…>",
    "--build": BUILD,
    "--attach": FOREGROUND,
    "--remove-orphans": "Use --prune",
    "--scale": "procsup scale <name> <N>, or instances in procsup.yaml",
    "--wait": "A start waits; --no-wait turns that off",
  },
  run: {
    "-D": "procsup up",
    "-d": "procsup up",
    "-c": INSTANCES,
    "-f": "Files need no flag: procsup run <file…>",
    "-m": INSTANCES,
    "-p": FIRST_PORT,
    "--formation": INSTANCES,
    "--port": FIRST_PORT,
  },
  restart: {
    "--only": FILE_AGAIN,
    "-i": "procsup scale <name> <N>",
    "--instances": "procsup scale <name> <N>",
    "--force": NEEDLESS,
    "-f": NEEDLESS,
    "--name": RENAME,
    "--no-watch": "procsup delete <target>, then procsup start <script> without --watch",
  },
  reload: { "--env": FILE_AGAIN, "--only": FILE_AGAIN, "--update-env": NEW_ENVIRONMENT },
  down: {
    "-v": "Apps own their data; to empty their logs: procsup flush <target>",
    "--volumes": "Apps own their data; to empty their logs: procsup flush <target>",
    "--remove-orphans": NEEDLESS,
    "--timeout": "Set stop_timeout in the file",
    "-t": "Set stop_timeout in the file",
  },
  delete: { "--force": NEEDLESS, "-f": NEEDLESS },
  stop: {
    "--signal":
      "procsup signal <signal> <target>; for each stop: procsup restart <target> --stop-signal",
    "-t": "Use --timeout 10s",
    "--time": "Use --timeout 10s",
  },
  daemon: {
    start: "procsup daemon --detach",
    stop: "procsup shutdown stops the apps too; SIGTERM to the daemon does not",
    restart: "procsup upgrade --force; apps keep running",
    reload: "procsup up --last --keep-stopped",
    status: "procsup status",
  },
  logs: {
    "--stderr": "Use --err",
    "--stdout": "Use --out",
    "-u": "procsup logs <target>",
    "--tail": "Use -n N",
    "--no-log-prefix": "The logs of one app have no prefix",
    "--format": "Use -o jsonl",
    "--highlight": "procsup logs --grep REGEX",
    "--timestamp": "Use -t",
  },
  list: {
    "-a": "procsup list shows all",
    "--sort": "procsup top sorts, by S",
    "--filter": "procsup list <target…>",
  },
  startup: {
    "--print": SHOWN,
    "--dry-run": SHOWN,
    "--hp": "Use --home DIR, or PROCSUP_HOME",
    "-u": "procsup startup install --user, as that user",
  },
  import: {
    "--env": "Every environment becomes a profile: procsup start procsup.yaml --profile <name>",
  },
};

/** Flags of other tools, for every command that takes several targets. */
const TARGET_FLAGS: Readonly<Record<string, string>> = { "--all": "Use the target all" };

/** For every command with `--on`. */
const CLUSTER_FLAGS: Readonly<Record<string, string>> = {
  "--namespace":
    "A namespace is a target: ns:<name>; that of Kubernetes: --on kubernetes --cluster-namespace <name>",
};

/** For every command without `--on`. */
function engineFlags(): Readonly<Record<string, string>> {
  const able = COMMANDS.filter(({ name, local }) => takesEngine(name) && !local);
  const hint = `Engines have ${able.map(({ name }) => name).join(", ")}: procsup help engines`;
  return Object.fromEntries(ON_FLAGS.map(({ name }) => [`--${name}`, hint]));
}

/** Adds the hint for a word of another tool, or for a topic; returns other errors unchanged. */
export function withForeignHint(error: UnknownWordError): ProcsupError {
  const { code, message, word, command } = error;
  const words = command === undefined ? FOREIGN_COMMANDS : {
    ...(takesTargets(command) ? TARGET_FLAGS : {}),
    ...(takesEngine(command) ? CLUSTER_FLAGS : engineFlags()),
    ...FOREIGN_WORDS[command],
  };
  if (Object.hasOwn(words, word)) return new ProcsupError(code, message, { hint: words[word] });
  return command === undefined && Object.hasOwn(PAGES, word)
    ? new ProcsupError(code, message, { hint: commandHint("help", word) })
    : error;
}

function takesEngine(command: string): boolean {
  return findCommand(COMMANDS, command)?.command.flags.some(({ name }) => name === "on") === true;
}

function takesTargets(command: string): boolean {
  return COMMANDS.some(({ name, usage }) => name === command && /target[^>\]]*…/.test(usage));
}
