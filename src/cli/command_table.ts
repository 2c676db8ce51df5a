/** Every command, as data. */

import { LOG_LEVELS } from "../model/log_line.ts";
import { CHANGE_TYPES, WAIT_POINTS } from "../model/process_info.ts";
import type { Command, CommandRow } from "./command.ts";
import {
  bool,
  changeFlags,
  type Flag,
  int,
  list,
  NO_WAIT,
  startFlags,
  text,
  webhookFlags,
} from "./flags.ts";

const PROFILE = text("profile", "NAME", "profile of a configuration file");

/** Flags that select a part of a configuration file. */
const FILE_FLAGS: readonly Flag[] = [
  text("only", "A,B", "only these of a configuration file, and what they depend on"),
  PROFILE,
];

const STACK = text("stack", "NAME", "name of the apps as a group (default: the folder's)");

const ON = text("on", "ENGINE", "engine of the apps; local: the daemon of this machine", {
  choices: ["kubernetes", "swarm", "systemd", "local"],
});

const CONTEXT = text("context", "NAME", "kubernetes, swarm: the context of kubectl or docker");

const NAMESPACE = text(
  "namespace",
  "NAME",
  "kubernetes: the namespace (default: that of the context)",
);

/** Flags of commands that also work on engines. */
const ON_FLAGS: readonly Flag[] = [ON, STACK, CONTEXT, NAMESPACE];

const STRICT = bool("strict", "fail when a key has no counterpart on the engine");

/** Flags of an export; `up --on` takes them too. */
const EXPORT_FLAGS: readonly Flag[] = [
  STACK,
  text("image", "NAME", "image of the apps, see procsup image"),
  STRICT,
  text("ports", "MODE", "swarm: publish ports on every node, or only where the app runs", {
    choices: ["ingress", "host"],
  }),
];

/** Flags that only engines have a use for. */
export const ENGINE_FLAGS: readonly Flag[] = [CONTEXT, NAMESPACE, ...EXPORT_FLAGS];

const BASE = text("base", "IMAGE", "image to build on");

const SERVE: readonly Flag[] = [
  int("port", "N", "port to listen on (default: 8080)", { short: "p" }),
  text("bind", "ADDRESS", "address to listen on (default: 0.0.0.0)"),
  bool("spa", "answer paths without a file with index.html"),
];

/** The commands that change apps. */
const APP_COMMANDS: readonly CommandRow[] = [
  {
    name: "start",
    aliases: { up: [] },
    page: "starting",
    summary: "Start an app, or one that was stopped",
    usage: "[script|target|file…] [-- args…]",
    // Its --namespace is that of a configuration.
    flags: () => [
      ...startFlags(),
      bool("detach", "accepted for compose: apps run in the background anyway", { short: "d" }),
      ...FILE_FLAGS,
      ...[ON, CONTEXT, ...EXPORT_FLAGS],
    ],
    examples: [
      "procsup start api.ts --name api -i 2 --socket 3000",
      "procsup start server.py -e PORT=8080 -- --verbose",
      "procsup start worker.js --watch --max-memory 300MB -e API_KEY",
      "procsup start -- caddy run",
      "procsup start api",
      "procsup start procsup.yaml --only api,worker",
      "procsup up",
      "procsup up --on kubernetes --image registry.example.com/shop:1.4",
    ],
    load: async () => (await import("./commands/start.ts")).start,
  },
  {
    name: "serve",
    local: true,
    page: "starting",
    summary: "Serve the files of a folder as an app",
    usage: "[folder]",
    flags: [
      ...SERVE,
      text("name", "NAME", "name of the app (default: the folder's)", { short: "n" }),
      NO_WAIT,
    ],
    examples: ["procsup serve ./dist --port 8080", "procsup serve ./dist --spa --name web"],
    load: async () => (await import("./commands/serve.ts")).serve,
  },
  {
    name: "serve-files",
    local: true,
    hidden: true,
    page: "starting",
    summary: "Serve the files of a folder in the foreground: what serve starts",
    usage: "[folder]",
    flags: SERVE,
    load: async () => (await import("./commands/serve.ts")).serveFiles,
  },
  {
    name: "down",
    page: "configuration",
    summary: "Stop and delete the apps of a configuration file",
    usage: "[file…]",
    flags: [
      text("only", "A,B", "only these of a configuration file, not what they depend on"),
      PROFILE,
      ...ON_FLAGS,
    ],
    examples: ["procsup down", "procsup down other.yaml", "procsup down --on swarm"],
    load: async () => (await import("./commands/config.ts")).down,
  },
  {
    name: "stop",
    page: "restarts",
    summary: "Stop apps and everything that they started",
    usage: "<target…>",
    flags: [bool("force", "SIGKILL at once"), text("timeout", "DURATION", "grace before SIGKILL")],
    examples: ["procsup stop api", "procsup stop all --timeout 30s"],
    load: async () => (await import("./commands/bulk.ts")).stop,
  },
  {
    name: "restart",
    page: "restarts",
    summary: "Stop apps and start them again, changed by flags",
    usage: "<target…> [-- args…]",
    flags: () => [...changeFlags(), bool("update-env", "give it the environment of this shell")],
    examples: [
      "procsup restart api",
      "procsup restart tag:web",
      "procsup restart api -e LOG_LEVEL=debug --max-memory 300MB",
      "procsup restart worker -- --verbose",
      "procsup restart api --update-env",
    ],
    load: async () => (await import("./commands/bulk.ts")).restart,
  },
  {
    name: "reload",
    page: "sockets",
    summary: "Reload apps, one instance after the other",
    usage: "<target…>",
    flags: [NO_WAIT],
    examples: ["procsup reload api"],
    load: async () => (await import("./commands/bulk.ts")).reload,
  },
  {
    name: "roll",
    aliases: { "rolling-reload": [], gracefulReload: [] },
    page: "sockets",
    summary: "Reload an app in batches of instances",
    usage: "<target>",
    flags: [
      text("batch", "N|N%", "instances at a time (default: 1)"),
      bool("rollback", "restore the old configuration when one fails"),
      bool("no-wait", "do not wait until each batch is ready"),
      ...ON_FLAGS,
    ],
    examples: ["procsup roll api --batch 25% --rollback"],
    load: async () => (await import("./commands/bulk.ts")).roll,
  },
  {
    name: "scale",
    page: "starting",
    summary: "Change the number of instances of an app",
    usage: "<name> <N|+N|-N>",
    flags: [NO_WAIT, ...ON_FLAGS],
    examples: ["procsup scale api 4", "procsup scale api -1"],
    load: async () => (await import("./commands/bulk.ts")).scale,
  },
  {
    name: "delete",
    aliases: { del: [], rm: [], remove: [] },
    page: "targets",
    summary: "Stop and delete apps",
    usage: "<target…>",
    examples: ["procsup delete api", "procsup delete all --yes"],
    load: async () => (await import("./commands/bulk.ts")).remove,
  },
  {
    name: "signal",
    aliases: { sendSignal: [] },
    page: "targets",
    summary: "Send a signal to apps",
    usage: "<signal> <target…>",
    verbs: ["HUP", "INT", "QUIT", "TERM", "KILL", "USR1", "USR2", "STOP", "CONT"],
    examples: ["procsup signal HUP api", "procsup signal SIGUSR1 all"],
    load: async () => (await import("./commands/bulk.ts")).signal,
  },
  {
    name: "send",
    page: "input",
    summary: "Write a line to the standard input of an app",
    usage: "<target> <text…>",
    flags: [bool("no-newline", "only the text, without a newline")],
    examples: ["procsup send game 'say hello'"],
    load: async () => (await import("./commands/bulk.ts")).send,
  },
  {
    name: "attach",
    page: "input",
    summary: "Use the terminal of an app, until Ctrl-]",
    usage: "<target>",
    flags: [text("detach-key", "CTRL-X", "key that ends it (default: ctrl-])")],
    examples: ["procsup start --tty --name console -- rails console", "procsup attach console"],
    load: async () => (await import("./commands/attach.ts")).attach,
  },
  {
    name: "flush",
    page: "logging",
    summary: "Empty the logs of apps, including archives",
    usage: "<target…>",
    examples: ["procsup flush api"],
    load: async () => (await import("./commands/bulk.ts")).flush,
  },
  {
    name: "cron",
    page: "jobs",
    summary: "List, run, enable and disable schedules",
    usage: "[verb] [target]",
    verbs: ["list", "run", "start", "stop", "next", "history"],
    examples: [
      "procsup start backup.sh --cron '0 4 * * *' --timezone Europe/Berlin",
      "procsup cron list",
      "procsup cron run backup",
      "procsup cron stop backup",
      "procsup cron next backup",
      "procsup cron history backup",
    ],
    load: async () => (await import("./commands/cron.ts")).cron,
  },
  {
    name: "save",
    aliases: { dump: [] },
    page: "upgrading",
    summary: "Save the list of apps for resurrect",
    load: async () => (await import("./commands/bulk.ts")).save,
  },
  {
    name: "resurrect",
    page: "upgrading",
    summary: "Restore the saved apps",
    load: async () => (await import("./commands/bulk.ts")).resurrect,
  },
];

const INTERVAL = text("interval", "DURATION", "time between updates (default: 1s)");

/** Commands that change nothing. */
const LOOK_COMMANDS: readonly CommandRow[] = [
  {
    name: "list",
    aliases: { ls: [], ps: [], l: [], jlist: ["--json"], prettylist: ["--json"] },
    page: "targets",
    summary: "List the apps",
    usage: "[target…]",
    flags: [
      bool("watch", "print again at each change; with -o jsonl only what changed", { short: "w" }),
      INTERVAL,
      bool("all-contexts", "those of this machine and of every context, in one table"),
      ...ON_FLAGS,
    ],
    examples: [
      "procsup list",
      "procsup list -o wide",
      "procsup list api tag:web",
      "procsup list --json",
      "procsup list --watch",
      "procsup list --watch -o jsonl",
    ],
    load: async () => (await import("./commands/list.ts")).list,
  },
  {
    name: "top",
    aliases: { monit: [], monitor: [] },
    page: "dashboard",
    summary: "Live view of all apps and their logs, with keys",
    flags: [INTERVAL, bool("once", "print the table once, and exit")],
    examples: ["procsup top", "procsup top --interval 2s", "procsup top --once"],
    load: async () => (await import("./commands/top.ts")).top,
  },
  {
    name: "status",
    aliases: { describe: [], desc: [], show: [], info: [] },
    page: "restarts",
    summary: "Show apps or the daemon; exit code 3 when not running",
    usage: "[target…]",
    examples: ["procsup status", "procsup status api", "procsup status api -q || page-someone"],
    load: async () => (await import("./commands/inspect.ts")).status,
  },
  {
    name: "pid",
    summary: "Print the process ids of apps; exit code 3 when none runs",
    usage: "[target…]",
    page: "restarts",
    examples: ["procsup pid api"],
    load: async () => (await import("./commands/list.ts")).pid,
  },
  {
    name: "why",
    page: "restarts",
    summary: "Explain the state of an app",
    usage: "<target>",
    flags: ON_FLAGS,
    examples: ["procsup why api"],
    load: async () => (await import("./commands/inspect.ts")).why,
  },
  {
    name: "logs",
    aliases: { log: [] },
    page: "logging",
    summary: "Print the logs of apps",
    usage: "[target…]",
    flags: [
      int("lines", "N", "last lines (default: 50; 0: all)", { short: "n" }),
      bool("follow", "follow: print new lines; with -n 0 only those", { short: "f" }),
      bool("err", "standard error only"),
      bool("out", "standard output only"),
      text("since", "WHEN", "from then on: 10m, 23:40, yesterday, a date"),
      text("until", "WHEN", "up to then"),
      text("grep", "REGEX", "lines that match", { short: "g" }),
      bool("invert", "with --grep: lines that do not"),
      bool("ignore-case", "with --grep: ignore case", { short: "i" }),
      text("level", "LEVEL", "lines of this level or above, with stack traces", {
        choices: LOG_LEVELS,
      }),
      bool("timestamps", "print the time of each line", { short: "t" }),
      bool("raw", "lines as they were written, with control sequences"),
      bool("nostream", "accepted for PM2 compatibility"),
      ...ON_FLAGS,
    ],
    examples: [
      "procsup logs api -f",
      "procsup logs -n 200 --err",
      "procsup logs api --since 10m --grep 'timeout|refused' -i -t",
      "procsup logs --level error --since yesterday",
      "procsup logs api --json",
    ],
    load: async () => (await import("./commands/logs.ts")).logs,
  },
  {
    name: "metrics",
    page: "history",
    summary: "Print CPU, memory and health of apps or the host over time",
    usage: "[target]",
    flags: [
      text("since", "WHEN", "from then on: 3h, 23:40, yesterday, a date (default: 1h)"),
      text("until", "WHEN", "up to then"),
      int("points", "N", "at most N points (default: 30)"),
    ],
    examples: [
      "procsup metrics api --since 3h",
      "procsup metrics --since yesterday",
      "procsup metrics api --since 03:05 --until 03:20 --points 100",
      "procsup metrics all --since 30d -o json",
    ],
    load: async () => (await import("./commands/metrics.ts")).metrics,
  },
  {
    name: "events",
    page: "journal",
    summary: "Print the events of apps",
    usage: "[target]",
    flags: [
      int("lines", "N", "last events (default: 20)", { short: "n" }),
      bool("follow", "follow: print new events; with -n 0 only those", { short: "f" }),
      text("since", "WHEN", "from then on: 12h, 23:40, yesterday, a date"),
      text("until", "WHEN", "up to then"),
      text("type", "TYPE", "only events of this type", { choices: CHANGE_TYPES }),
    ],
    examples: [
      "procsup events api",
      "procsup events --type crashed --since yesterday",
      "procsup events -f -o jsonl",
      "procsup events api --since yesterday",
    ],
    load: async () => (await import("./commands/events.ts")).events,
  },
  {
    name: "wait",
    page: "health",
    summary: "Wait for apps; --for exit gives their exit code",
    usage: "<target>",
    flags: [
      text("for", "POINT", "what to wait for (default: ready)", { choices: WAIT_POINTS }),
      text("timeout", "DURATION", "give up with exit code 124"),
    ],
    examples: ["procsup wait api --for ready --timeout 30s", "procsup wait job --for exit"],
    load: async () => (await import("./commands/inspect.ts")).wait,
  },
];

/** Commands on configuration files. */
const CONFIG_COMMANDS: readonly CommandRow[] = [
  {
    name: "config",
    aliases: { validate: ["validate"], plan: ["plan"], apply: ["apply"], schema: ["schema"] },
    page: "configuration",
    summary: "Validate, plan, apply, reload or show configuration files",
    usage: "<verb> [file…]",
    verbs: ["validate", "plan", "apply", "reload", "schema", "show"],
    flags: [
      ...FILE_FLAGS,
      bool("dry-run", "show what would change"),
      bool(
        "no-files",
        "validate, plan: do not look for programs, watched paths and variables here",
      ),
      bool("prune", "remove apps that are no longer in the file"),
      NO_WAIT,
    ],
    examples: [
      "procsup config validate",
      "procsup config plan",
      "procsup config apply procsup.yaml --prune",
      "procsup config reload --dry-run",
      "procsup config schema",
    ],
    load: async () => (await import("./commands/config.ts")).config,
  },
  {
    name: "init",
    local: true,
    page: "configuration",
    summary: "Write a procsup.yaml from what this folder holds",
    flags: [bool("force", "replace an existing procsup.yaml")],
    examples: ["procsup init"],
    load: async () => (await import("./commands/import.ts")).init,
  },
  {
    name: "import",
    local: true,
    page: "migrating",
    summary: "Make a procsup.yaml from pm2, compose, systemd and others",
    usage: "[tool] <file>",
    flags: [
      text("out", "FILE", "write to this file"),
      bool("force", "replace an existing file"),
      bool("with-docker", "compose: run images with docker run"),
    ],
    examples: [
      "procsup import pm2 ecosystem.config.js --out procsup.yaml",
      "procsup import Procfile",
      "procsup import supervisord /etc/supervisor/supervisord.conf",
      "procsup import compose docker-compose.yml",
    ],
    load: async () => (await import("./commands/import.ts")).importFile,
  },
  {
    name: "export",
    local: true,
    page: "beyond",
    summary: "Make the files for kubernetes, swarm, nomad and others",
    usage: "<engine> [file]",
    verbs: ["kubernetes", "swarm", "compose", "nomad", "systemd", "dockerfile"],
    flags: [text("out", "DIR", "write files to this folder"), ...EXPORT_FLAGS, BASE, PROFILE],
    examples: [
      "procsup export kubernetes --image registry.example.com/shop:1.4",
      "procsup export swarm procsup.yaml --out deploy --strict",
      "procsup export systemd --out units",
      "procsup export dockerfile",
    ],
    load: async () => (await import("./commands/export.ts")).exportFile,
  },
  {
    name: "image",
    local: true,
    page: "beyond",
    summary: "Build an image of the apps of a file, with procsup in it",
    usage: "[file]",
    flags: [
      text("tag", "NAME", "name of the image, required"),
      BASE,
      text("builder", "PROGRAM", "what builds it (default: docker)", {
        choices: ["docker", "podman"],
      }),
      text("program", "FILE", "executable of procsup that goes in (default: this one)"),
      STRICT,
      PROFILE,
    ],
    examples: [
      "procsup image --tag registry.example.com/shop:1.4",
      "procsup image procsup.yaml --tag shop:1 --base debian:bookworm-slim --builder podman",
    ],
    load: async () => (await import("./commands/image.ts")).image,
  },
];

/** The configuration flags that `run -- command` accepts. */
const RUN_FLAGS = ["name", "instances", "cwd", "env", "restart", "max-restarts", "stop-timeout"];

/** Commands about the daemon and this program. */
const DAEMON_COMMANDS: readonly CommandRow[] = [
  {
    name: "daemon",
    local: true,
    page: "architecture",
    summary: "Run the daemon",
    flags: [bool("detach", "run it in the background, return when it answers", { short: "d" })],
    examples: ["procsup daemon", "procsup daemon --detach"],
    load: async () => (await import("./commands/daemon.ts")).daemon,
  },
  {
    name: "shutdown",
    aliases: { kill: [] },
    page: "boot",
    summary: "Stop all apps and the daemon",
    examples: ["procsup shutdown --yes"],
    load: async () => (await import("./commands/bulk.ts")).shutdown,
  },
  {
    name: "run",
    local: true,
    page: "containers",
    summary: "Run apps in the foreground, for containers and laptops",
    usage: "[file…] | -- <command…>",
    flags: () => [
      list("critical", "APP", "stop everything when it exits"),
      bool("no-prefix", "print lines without names"),
      text("single", "APP", "only one instance of this app, for a container of an engine"),
      bool("now", "with --single: run a job at once"),
      text("ready-file", "PATH", "file that exists while ready"),
      ...FILE_FLAGS,
      ...startFlags().filter(({ name }) => RUN_FLAGS.includes(name)),
    ],
    examples: [
      "procsup run",
      "procsup run procsup.yaml --critical web",
      "procsup run -- node server.js",
    ],
    load: async () => (await import("./commands/run.ts")).run,
  },
  {
    name: "upgrade",
    local: true,
    page: "upgrading",
    summary: "Replace the running daemon; apps keep running",
    flags: [bool("force", "even if it has this version, or a newer one")],
    examples: ["procsup upgrade"],
    load: async () => (await import("./commands/upgrade.ts")).upgrade,
  },
  {
    name: "ping",
    page: "faults",
    summary: "Check whether the daemon answers",
    load: async () => (await import("./commands/inspect.ts")).ping,
  },
  {
    name: "mcp",
    page: "agents",
    summary: "Serve agents by MCP; install procsup in a client",
    usage: "[install|uninstall] [client]",
    verbs: ["install", "uninstall"],
    flags: [
      text("toolsets", "SET,…", "core (default), diagnose, deploy, jobs, or all"),
      bool("read-only", "only tools that change nothing"),
      text("allow", "TOOL,…", "only these tools"),
      bool("print", "install: print the entry, change no file"),
    ],
    examples: [
      "procsup mcp install claude",
      "procsup mcp uninstall claude",
      "procsup mcp --toolsets core,diagnose,deploy,jobs",
      "procsup mcp --read-only",
    ],
    load: async () => (await import("./commands/mcp.ts")).mcp,
  },
  {
    name: "context",
    local: true,
    page: "remote",
    summary: "Name machines and engines; choose where commands go",
    usage: "[verb] [name] [host]",
    verbs: ["list", "add", "use", "remove"],
    flags: ON_FLAGS,
    examples: [
      "procsup context list",
      "procsup context add web1 deploy@web1.example.com",
      "procsup context add prod --on kubernetes --context prod-eu --namespace shop",
      "procsup context use web1",
      "procsup context use local",
      "procsup context remove web1",
      "procsup list --all-contexts",
    ],
    load: async () => (await import("./commands/context.ts")).context,
  },
  {
    name: "dial-stdio",
    local: true,
    hidden: true,
    page: "remote",
    summary: "Join standard input and output to the daemon, for --host elsewhere",
    load: async () => (await import("./commands/dial_stdio.ts")).dialStdio,
  },
  {
    name: "token",
    page: "tokens",
    summary: "Print the API token; create, list and revoke tokens",
    usage: "[verb] [name]",
    verbs: ["create", "list", "revoke"],
    flags: [
      bool("rotate", "replace the token first"),
      text("role", "ROLE", "role of a new token (default: read)", {
        choices: ["read", "operate", "admin"],
      }),
    ],
    examples: [
      "procsup token create grafana --role read",
      "procsup token list",
      "procsup token revoke grafana",
    ],
    load: async () => (await import("./commands/token.ts")).token,
  },
  {
    name: "web",
    page: "dashboard",
    summary: "Serve the dashboard and REST; print a link",
    usage: "[verb]",
    verbs: ["start", "stop", "status", "open"],
    flags: [
      text("listen", "HOST:PORT", "address (default: 127.0.0.1:9615)"),
      bool("allow-remote", "allow an address that other machines can reach"),
      list("allow-host", "NAME", "a name that browsers may use"),
    ],
    examples: [
      "procsup web",
      "procsup web start --listen 127.0.0.1:8080",
      "procsup web status",
      "procsup web open",
      "procsup web stop",
    ],
    load: async () => (await import("./commands/web.ts")).web,
  },
  {
    name: "webhook",
    page: "webhooks",
    summary: "List, set, delete and test webhooks",
    usage: "[list|set|delete|test] [name]",
    verbs: ["list", "set", "delete", "test"],
    flags: webhookFlags,
    examples: [
      "procsup webhook",
      "procsup webhook set ops --url https://hooks.example.com/procsup --event errored",
      "procsup webhook test ops",
      "procsup webhook delete ops",
    ],
    load: async () => (await import("./commands/webhook.ts")).webhook,
  },
  {
    name: "startup",
    local: true,
    aliases: { unstartup: ["uninstall"] },
    page: "boot",
    summary: "Start the daemon at boot: show, install or remove the unit",
    usage: "[install|uninstall|status]",
    verbs: ["install", "uninstall", "status"],
    flags: [
      bool("user", "for this user's session"),
      bool("system", "for the machine (default for root)"),
    ],
    examples: ["procsup startup", "procsup startup install --user"],
    load: async () => (await import("./commands/startup.ts")).startup,
  },
  {
    name: "doctor",
    local: true,
    page: "faults",
    summary: "Find problems, and the commands that fix them",
    load: async () => (await import("./commands/doctor.ts")).doctor,
  },
  {
    name: "completion",
    local: true,
    page: "upgrading",
    summary: "Print the completion script of a shell",
    usage: "<bash|zsh|fish|powershell>",
    verbs: ["bash", "zsh", "fish", "powershell"],
    examples: ["procsup completion bash"],
    load: async () => (await import("./commands/completion.ts")).completion,
  },
  {
    name: "__complete",
    local: true,
    page: "upgrading",
    hidden: true,
    summary: "Print the words that may come next",
    usage: "[words…]",
    load: async () => (await import("./commands/completion.ts")).complete,
  },
  {
    name: "man",
    local: true,
    page: "commands",
    summary: "Print the man page",
    examples: ["procsup man | man -l -"],
    load: async () => (await import("./commands/help.ts")).man,
  },
  {
    name: "version",
    local: true,
    page: "upgrading",
    summary: "Print the version",
    load: async () => (await import("./commands/version.ts")).version,
  },
  {
    name: "help",
    local: true,
    page: "commands",
    summary: "Show a command, or a page of the documentation",
    usage: "[command|topic]",
    examples: ["procsup help start", "procsup help restarts"],
    load: async () => (await import("./commands/help.ts")).help,
  },
];

/** The command table, in the order of the help. */
export const COMMANDS: readonly Command[] = [
  ...inGroup("Apps", APP_COMMANDS),
  ...inGroup("Look", LOOK_COMMANDS),
  ...inGroup("Config", CONFIG_COMMANDS),
  ...inGroup("Daemon", DAEMON_COMMANDS),
];

function inGroup(group: string, rows: readonly CommandRow[]): Command[] {
  return rows.map(({ flags = [], usage = "", examples = [], ...row }) => ({
    ...row,
    group,
    usage,
    examples,
    takesRest: usage.includes("--"),
    get flags() {
      return typeof flags === "function" ? flags() : flags;
    },
  }));
}
