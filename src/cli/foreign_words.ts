/**
 * Maps commands and flags of PM2, supervisorctl, systemctl and compose tools to the procsup way.
 * Loaded only after a command line has failed.
 */

import { PAGES } from "../docs/pages.ts";
import { ProcsupError } from "../model/errors.ts";
import type { UnknownWordError } from "./unknown_word.ts";

export const FOREIGN_COMMANDS: Readonly<Record<string, string>> = {
  add: "procsup config apply <file>",
  avail: "procsup list for existing apps, procsup config plan <file> for new ones",
  backup: "procsup save writes state/saved.json, which procsup resurrect reads on another machine",
  cat: "procsup config show",
  clear: "procsup flush <target>",
  conf: "Settings are in the configuration file: procsup config show",
  "daemon-reload": "procsup config apply <file>",
  deploy: "Update the code yourself, then: procsup reload <target>",
  disable: "procsup stop <target> survives reboots too, until procsup start <target>",
  ecosystem: "procsup start <script>, or procsup import pm2 ecosystem.config.js --out procsup.yaml",
  edit: "Edit the configuration file, then: procsup config apply <file>",
  enable: "procsup start <target>; for the daemon at boot: procsup startup install",
  env: "The names of the variables, without values: procsup status <target> -o yaml",
  exec: "procsup start -- <command> runs one beside the others",
  fg: "procsup attach <target>",
  get: "Settings are in the configuration file: procsup config show",
  history: "procsup events <target> --since 24h, and for jobs: procsup cron history <target>",
  id: "procsup list -o json",
  inspect: "procsup status <target> -o json",
  install: "procsup has no modules; logs are rotated, and /metrics served by: procsup web",
  "is-active": "procsup status <target> -q; its exit code 3 is not running",
  journal: "procsup logs <target>, and procsup events <target> --since 24h",
  journalctl: "procsup logs <target>, and procsup events <target> --since 24h",
  link: "procsup web",
  "list-timers": "procsup cron list",
  maintail: "The daemon's own log is daemon.log in the folder that procsup status names",
  mask: "procsup stop <target> survives reboots too, until procsup start <target>",
  monitoring: "procsup web",
  plus: "procsup web",
  process: "procsup list, procsup start, procsup stop …",
  reloadLogs: "Not needed: procsup rotates the logs itself",
  report: "procsup doctor",
  reread: "procsup config plan <file>",
  reset: "procsup restart <target> resets its restart count",
  restore: "procsup resurrect",
  rollback: "procsup roll <target> --rollback restores the old configuration when one fails",
  set: "Settings are in the configuration file: procsup config show",
  slist: "procsup list -o yaml",
  softReload: "procsup roll <target>",
  startOrGracefulReload: "procsup start <file> starts what is new, and restarts what has changed",
  startOrReload: "procsup start <file> starts what is new, and restarts what has changed",
  startOrRestart: "procsup start <file> starts what is new, and restarts what has changed",
  tail: "procsup logs <target> -f",
  timers: "procsup cron list",
  unmask: "procsup start <target>",
  update: "procsup upgrade for the daemon, procsup config apply <file> for the apps",
  updatePM2: "procsup upgrade",
};

const NEW_ENVIRONMENT = "procsup restart <target> --update-env";
const FILE_AGAIN = "procsup start <file>, with the same flag, applies what has changed";
const OWN_LOGS = "Each app has its own log files, shown by procsup status: procsup logs -t";
const BY_COMMAND = "Write the whole command: procsup start --name <name> -- node --inspect app.js";
const FOREGROUND = "procsup run -- <command>, or procsup start and then procsup logs <target> -f";
const BACKOFF = "The delay doubles by itself: --restart-delay 100ms --backoff-max 15s";
const SHOWN = "procsup startup shows the unit and changes nothing";
const NEEDLESS = "Not needed: leave it out";

/** Flags of other tools, by procsup command. */
export const FOREIGN_FLAGS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  start: {
    "--attach": FOREGROUND,
    "--daemon-off": FOREGROUND,
    "--disable-logs": "Each app has log files, rotated at 10MB: log.max_size in procsup.yaml",
    "--error": "Use --stderr FILE",
    "--exp-backoff-restart-delay": BACKOFF,
    "--filter-env": "inherit_env in procsup.yaml: false, or the variables to keep",
    "--force": "Give it another --name, or: procsup restart <target>",
    "-f": "A file needs no flag: procsup start <file>; for a name that is taken: --name <name>",
    "--dry-run": "procsup config plan <file>",
    "--prune": "procsup config apply <file> --prune",
    "--remove-orphans": "procsup config apply <file> --prune",
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
    "--pid": "procsup status <target> -o json has the pid",
    "--shutdown-with-message": "Use --stop-signal NAME",
    "--source-map-support": "Use -e NODE_OPTIONS=--enable-source-maps",
    "--time": "procsup logs -t shows the times",
    "--update-env": NEW_ENVIRONMENT,
  },
  restart: {
    "--only": FILE_AGAIN,
    "-i": "procsup scale <name> <N>",
    "--instances": "procsup scale <name> <N>",
    "--name": "Names are permanent: procsup delete <target>, then start it under another",
  },
  reload: { "--env": FILE_AGAIN, "--only": FILE_AGAIN, "--update-env": NEW_ENVIRONMENT },
  down: {
    "-v": "Apps own their data; to empty their logs: procsup flush <target>",
    "--volumes": "Apps own their data; to empty their logs: procsup flush <target>",
    "--remove-orphans": NEEDLESS,
    "--timeout": "Set stop_timeout in the file",
    "-t": "Set stop_timeout in the file",
  },
  logs: {
    "-u": "procsup logs <target>",
    "--tail": "Use -n N",
    "--no-log-prefix": "The logs of one app have no prefix",
    "--format": "Use -o jsonl",
    "--highlight": "procsup logs --grep REGEX",
    "--timestamp": "Use -t",
  },
  list: { "--sort": "procsup top sorts, by S", "--filter": "procsup list <target…>" },
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

/** Adds the hint for a word of another tool, or for a topic; returns other errors unchanged. */
export function withForeignHint(error: UnknownWordError): ProcsupError {
  const { code, message, word, command } = error;
  const words = command === undefined ? FOREIGN_COMMANDS : FOREIGN_FLAGS[command] ?? {};
  if (Object.hasOwn(words, word)) return new ProcsupError(code, message, { hint: words[word] });
  return command === undefined && Object.hasOwn(PAGES, word)
    ? new ProcsupError(code, message, { hint: `procsup help ${word}` })
    : error;
}
