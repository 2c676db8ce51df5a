/** Every command, as data. */

import { APP_COMMANDS, LOOK_COMMANDS } from "./app_commands.ts";
import { EXPORTS } from "../export/mod.ts";
import { TOOL_NAMES } from "../import/mod.ts";
import type { Command, CommandRow } from "./command.ts";
import {
  bool,
  configFlags,
  EXPORT_FLAGS,
  FILE_FLAGS,
  list,
  NOTES,
  ON_FLAGS,
  PROFILE,
  STRICT,
  text,
  UPDATE_ENV,
  webhookFlags,
} from "./flags.ts";

const BASE = text("base", "IMAGE", "image to build on");

/** Commands on configuration files. */
const CONFIG_COMMANDS: readonly CommandRow[] = [
  {
    name: "config",
    aliases: { validate: ["validate"], plan: ["plan"], schema: ["schema"] },
    page: "configuration",
    summary: "Validate, plan or show configuration files",
    usage: "<verb> [file…]",
    verbs: ["validate", "plan", "schema", "show"],
    flags: [
      ...FILE_FLAGS,
      bool(
        "no-files",
        "validate, plan: do not look for programs, watched paths and variables here",
      ),
      bool("prune", "plan: remove apps that are no longer in the file"),
      UPDATE_ENV,
    ],
    examples: [
      "procsup config validate",
      "procsup config plan",
      "procsup config schema",
    ],
    load: async () => (await import("./commands/config.ts")).config,
  },
  {
    name: "init",
    local: true,
    page: "configuration",
    summary: "Write a procsup.yaml from what this folder holds",
    flags: [bool("force", "replace an existing procsup.yaml"), NOTES],
    examples: ["procsup init"],
    load: async () => (await import("./commands/import.ts")).init,
  },
  {
    name: "import",
    local: true,
    page: "migrating",
    summary: "Make a procsup.yaml from pm2, compose, systemd and others",
    usage: "[tool] <file>",
    verbs: TOOL_NAMES,
    flags: [
      text("out", "FILE", "write to this file"),
      NOTES,
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
    verbs: EXPORTS,
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
      ...configFlags().filter(({ name }) => RUN_FLAGS.includes(name)),
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
    hidden: true,
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
      "procsup context add prod --on kubernetes --context prod-eu --cluster-namespace shop",
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
      text("only", "APPS", "apps that exist for a new token: names, ns:…, tag:…, label:…"),
      text("expires", "TIME", "how long a new token is valid, such as 30d, or until when"),
    ],
    examples: [
      "procsup token create grafana --role read",
      "procsup token create ci --role operate --only ns:shop,tag:web --expires 30d",
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
      text("base-path", "PATH", "path below which a proxy serves it"),
      list("trusted-proxy", "ADDRESS", "a proxy whose X-Forwarded headers hold"),
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
    flags: [
      bool("all", "every flag of the command"),
      bool("man", "print the man page"),
    ],
    examples: [
      "procsup help start",
      "procsup help start --all",
      "procsup help restarts",
      "procsup help --man | man -l -",
    ],
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
