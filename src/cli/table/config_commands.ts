/** Commands on configuration files. */

import type { CommandRow } from "../command.ts";
import type { Flag } from "../flags.ts";
import { bool, NO_WAIT, text } from "./make_flags.ts";

const PROFILE = text("profile", "NAME", "profile of a configuration file");

/** Flags that select a part of a configuration file; `start` takes them too. */
export const FILE_FLAGS: readonly Flag[] = [
  text("only", "A,B", "only these of a configuration file, and what they depend on"),
  PROFILE,
];

export const DOWN_FLAGS: readonly Flag[] = [
  text("only", "A,B", "only these of a configuration file, not what they depend on"),
  PROFILE,
];

/** Name of the exported stack. */
const STACK = text("stack", "NAME", "name of the apps as a group (default: the folder's)");

/** The engine of the apps. */
const ON = text(
  "on",
  "ENGINE",
  "engine of the apps; local: the daemon of this machine",
  { choices: ["kubernetes", "swarm", "systemd", "local"] },
);

const CONTEXT = text(
  "context",
  "NAME",
  "kubernetes, swarm: the context of kubectl or docker",
);

const NAMESPACE = text(
  "namespace",
  "NAME",
  "kubernetes: the namespace (default: that of the context)",
);

/** Flags of commands that also work on engines. */
export const ON_FLAGS: readonly Flag[] = [ON, STACK, CONTEXT, NAMESPACE];

/** Flags of an export; `up --on` takes them too. */
const EXPORT_FLAGS: readonly Flag[] = [
  STACK,
  text("image", "NAME", "image of the apps, see procsup image"),
  bool("strict", "fail when a key has no counterpart on the engine"),
  text("ports", "MODE", "swarm: publish ports on every node, or only where the app runs", {
    choices: ["ingress", "host"],
  }),
];

/** Flags that only engines have a use for. */
export const ENGINE_FLAGS: readonly Flag[] = [CONTEXT, NAMESPACE, ...EXPORT_FLAGS];

/** Flags of `up --on` besides those of `start`, which already has `--namespace`. */
export const UP_FLAGS: readonly Flag[] = [ON, CONTEXT, ...EXPORT_FLAGS];

const BASE = text("base", "IMAGE", "image to build on");

/** Commands on configuration files. */
export const CONFIG_COMMANDS: readonly CommandRow[] = [
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
    load: async () => (await import("../commands/config.ts")).config,
  },
  {
    name: "init",
    local: true,
    page: "configuration",
    summary: "Write a procsup.yaml from what this folder holds",
    flags: [bool("force", "replace an existing procsup.yaml")],
    examples: ["procsup init"],
    load: async () => (await import("../commands/import.ts")).init,
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
    load: async () => (await import("../commands/import.ts")).importFile,
  },
  {
    name: "export",
    local: true,
    page: "beyond",
    summary: "Make the files for kubernetes, swarm, nomad and others",
    usage: "<engine> [file]",
    verbs: ["kubernetes", "swarm", "compose", "nomad", "systemd", "dockerfile"],
    flags: [
      text("out", "DIR", "write files to this folder"),
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
      text("tag", "NAME", "name of the image, required"),
      BASE,
      text("builder", "PROGRAM", "what builds it (default: docker)", {
        choices: ["docker", "podman"],
      }),
      text("program", "FILE", "executable of procsup that goes in (default: this one)"),
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
