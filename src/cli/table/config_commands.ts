/** Commands on configuration files. */

import type { CommandRow, Flag } from "../command.ts";
import { NO_WAIT } from "./start_flags.ts";

const ONLY = { name: "only", type: "text", value: "A,B" } as const;

const PROFILE: Flag = {
  name: "profile",
  type: "text",
  value: "NAME",
  help: "profile of a configuration file",
};

/** Flags that select a part of a configuration file; `start` takes them too. */
export const FILE_FLAGS: readonly Flag[] = [
  { ...ONLY, help: "only these of a configuration file, and what they depend on" },
  PROFILE,
];

export const DOWN_FLAGS: readonly Flag[] = [
  { ...ONLY, help: "only these of a configuration file, not what they depend on" },
  PROFILE,
];

/** Name of the exported stack. */
const STACK: Flag = {
  name: "stack",
  type: "text",
  value: "NAME",
  help: "name of the apps together (default: the folder)",
};

/** The engine of the apps. */
const ON: Flag = {
  name: "on",
  type: "text",
  value: "ENGINE",
  choices: ["kubernetes", "swarm", "systemd", "local"],
  help: "where the apps are: an engine; local: the daemon of this machine",
};

const CONTEXT: Flag = {
  name: "context",
  type: "text",
  value: "NAME",
  help: "kubernetes, swarm: the context of kubectl or docker",
};

const NAMESPACE: Flag = {
  name: "namespace",
  type: "text",
  value: "NAME",
  help: "kubernetes: the namespace (default: that of the context)",
};

/** Flags of commands that also work on engines. */
export const ON_FLAGS: readonly Flag[] = [ON, STACK, CONTEXT, NAMESPACE];

/** Flags of an export; `up --on` takes them too. */
const EXPORT_FLAGS: readonly Flag[] = [
  STACK,
  { name: "image", type: "text", value: "NAME", help: "image of the apps, see procsup image" },
  { name: "strict", type: "bool", help: "fail when a key has no counterpart on the engine" },
  {
    name: "ports",
    type: "text",
    value: "MODE",
    choices: ["ingress", "host"],
    help: "swarm: who publishes ports, every node or those that run the app",
  },
];

/** Flags of `up --on` besides those of `start`, which already has `--namespace`. */
export const UP_FLAGS: readonly Flag[] = [ON, CONTEXT, ...EXPORT_FLAGS];

const BASE: Flag = { name: "base", type: "text", value: "IMAGE", help: "image to build on" };

/** Commands on configuration files. */
export const CONFIG_COMMANDS: readonly CommandRow[] = [
  {
    name: "config",
    aliases: { validate: ["validate"], plan: ["plan"], apply: ["apply"], schema: ["schema"] },
    page: "configuration",
    summary: "Files: validate, plan, apply, reload, show, schema",
    usage: "<verb> [file…]",
    verbs: ["validate", "plan", "apply", "reload", "schema", "show"],
    flags: [
      ...FILE_FLAGS,
      { name: "dry-run", type: "bool", help: "show what would change" },
      {
        name: "no-files",
        type: "bool",
        help: "validate, plan: do not look for programs, watched paths and variables here",
      },
      { name: "prune", type: "bool", help: "remove apps that are no longer in the file" },
      NO_WAIT,
    ],
    examples: [
      "procsup config validate",
      "procsup config plan",
      "procsup config apply procsup.yaml --prune",
      "procsup config reload --dry-run",
      "procsup config schema",
    ],
    load: async () => (await import("../commands/config.ts")).config,
  },
  {
    name: "init",
    local: true,
    page: "configuration",
    summary: "Write a procsup.yaml from what this folder holds",
    flags: [{ name: "force", type: "bool", help: "replace an existing procsup.yaml" }],
    examples: ["procsup init"],
    load: async () => (await import("../commands/import.ts")).init,
  },
  {
    name: "import",
    local: true,
    page: "migrating",
    summary: "A procsup.yaml from pm2, supervisord, compose, systemd …",
    usage: "[tool] <file>",
    flags: [
      { name: "out", type: "text", value: "FILE", help: "write to this file" },
      { name: "force", type: "bool", help: "replace an existing file" },
      { name: "with-docker", type: "bool", help: "compose: run images with docker run" },
    ],
    examples: [
      "procsup import pm2 ecosystem.config.js --out procsup.yaml",
      "procsup import Procfile",
      "procsup import supervisord /etc/supervisor/supervisord.conf",
      "procsup import compose docker-compose.yml",
    ],
    load: async () => (await import("../commands/import.ts")).importFile,
  },
  {
    name: "export",
    local: true,
    page: "beyond",
    summary: "Files for kubernetes, swarm, compose, nomad, systemd",
    usage: "<engine> [file]",
    flags: [
      { name: "out", type: "text", value: "DIR", help: "write files to this folder" },
      ...EXPORT_FLAGS,
      BASE,
      PROFILE,
    ],
    examples: [
      "procsup export kubernetes --image registry.example.com/shop:1.4",
      "procsup export swarm procsup.yaml --out deploy --strict",
      "procsup export systemd --out units",
      "procsup export dockerfile",
    ],
    load: async () => (await import("../commands/export.ts")).exportFile,
  },
  {
    name: "image",
    local: true,
    page: "beyond",
    summary: "Build an image of the apps of a file, with procsup in it",
    usage: "[file]",
    flags: [
      { name: "tag", type: "text", value: "NAME", help: "name of the image" },
      BASE,
      {
        name: "builder",
        type: "text",
        value: "PROGRAM",
        choices: ["docker", "podman"],
        help: "what builds it (default: docker)",
      },
      {
        name: "program",
        type: "text",
        value: "FILE",
        help: "executable of procsup that goes in (default: this one)",
      },
      ...EXPORT_FLAGS.filter(({ name }) => name === "strict"),
      PROFILE,
    ],
    examples: [
      "procsup image --tag registry.example.com/shop:1.4",
      "procsup image procsup.yaml --tag shop:1 --base debian:bookworm-slim --builder podman",
    ],
    load: async () => (await import("../commands/image.ts")).image,
  },
];
