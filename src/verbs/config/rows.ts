/** The verbs on configuration files: `start_all`, `config_reload` and `config_delete`. */

import * as z from "zod/mini";
import { about, bulkResult, fieldChange, flag, processResult, text } from "../shapes.ts";
import { verb } from "../verb.ts";

/** One word or a list. An empty list is an error. */
const words = z.union([text, z.array(text).check(z.minLength(1))]);

const prune = about(z._default(flag, false), "Delete processes that the files no longer name");

const paths = about(
  z.optional(words),
  "Path of a file, or several; default: the files applied last",
);

const selection = {
  only: about(
    z.optional(words),
    "Only these processes and what they depend on: names, `ns:…`, `tag:…` or `label:…`",
  ),
  profile: about(z.optional(text), "Profile of the files"),
  variables: about(
    z.optional(z.record(z.string(), z.string())),
    "Values for `${…}`, in place of those of the daemon's own environment",
  ),
};

const source = {
  ...selection,
  shell_env: about(
    z.optional(z.record(z.string(), z.string())),
    "Environment of the shell: new apps inherit it, as with `start`, in place of the daemon's",
  ),
  update_env: about(z.optional(flag), "Give `shell_env` to the apps that exist, too"),
  wait: about(z.optional(flag), "Answer only when each has stayed up. Default false."),
};

const fromShell = about(
  z.optional(z.array(z.string())),
  "Variables of `shell_env` that apps got and whose values differ from the daemon's",
);

/** How a setting of the daemon changes. URLs and secrets are not shown. */
export const settingChange = z.object({
  name: about(
    z.enum(["web", "webhooks", "alerts"]),
    "What a configuration file may say about the daemon itself",
  ),
  change: about(
    z.enum(["added", "changed", "unchanged", "removed", "kept"]),
    "`kept`: no longer in the files, but kept because `prune` was not given",
  ),
  fields: z.array(fieldChange),
});

/** How one process changes. Values of `env`, `secrets` and `args` are not shown. */
export const configChange = z.object({
  name: about(z.string(), "Name of the process"),
  restart: about(z.boolean(), "Whether what runs is replaced"),
  stop: about(z.boolean(), "Whether what runs is stopped: it becomes a job"),
  start: about(z.boolean(), "Whether it is started: it was a job between its runs"),
  rolling: about(z.boolean(), "More than one instance: they are replaced one by one"),
  fields: about(z.array(fieldChange), "The keys that change"),
});

export const CONFIG_VERBS = {
  start_all: verb({
    help: "Start everything in a configuration, or part of it",
    role: "admin",
    reach: "everything",
    input: z.strictObject({
      ...source,
      config: about(
        z.optional(z.union([words, z.record(z.string(), z.unknown())])),
        "Path of a file, list of paths, or content of a file; default: the files applied last",
      ),
    }),
    output: z.object({
      started: about(z.array(z.string()), "Names of the processes that were started"),
      errors: z.array(z.string()),
      changed: about(z.array(z.string()), "Names whose configuration changed, restarted or not"),
      unchanged: z.array(z.string()),
      settings: z.array(settingChange),
      from_shell: fromShell,
      results: z.array(processResult),
    }),
    rest: [{ method: "POST", path: "/config/start", body: "StartAll", answers: "StartAllResult" }],
  }),
  config_reload: verb({
    help: "Apply a configuration, or plan it",
    role: "admin",
    reach: "everything",
    input: z.strictObject({
      ...source,
      config_path: paths,
      content: about(
        z.optional(z.strictObject({ file: z.string().check(z.startsWith("/")), text: z.string() })),
        "Content to use instead of the file on disk",
      ),
      dry_run: about(z._default(flag, false), "Only report what would be done"),
      prune,
      start: about(z._default(flag, false), "Also start existing apps that are down"),
    }),
    bare: "config_path",
    output: z.object({
      status: z.enum(["reloaded", "planned", "failed"]),
      added: about(z.array(z.string()), "Names of configurations, as in the lists below"),
      changed: z.array(z.string()),
      removed: z.array(z.string()),
      kept: about(
        z.array(z.string()),
        "No longer in the files, but kept because `prune` was not given",
      ),
      unchanged: z.array(z.string()),
      stopped: about(z.array(z.string()), "Existing apps that are down, and that `start` starts"),
      errors: z.array(z.string()),
      changes: z.array(configChange),
      settings: z.array(settingChange),
      from_shell: fromShell,
      results: z.array(processResult),
    }),
    rest: [{
      method: "POST",
      path: "/config/reload",
      body: "ConfigReload",
      answers: "ConfigResult",
    }],
    mcp: {
      tool: "apply_config",
      toolset: "deploy",
      title: "Apply configuration",
      description:
        "Apply a configuration file. Call it with `plan` first: it changes nothing and " +
        "reports what would be done. Waits until the apps have stayed up.",
      input: z.strictObject({
        file: about(z.optional(text), "Absolute path of a file; default: the files applied last"),
        content: about(
          z.optional(text),
          "Content to use instead of the file on disk; needs `file`",
        ),
        only: source.only,
        profile: source.profile,
        prune,
        plan: about(flag.clone(), "True: answer what would be done. False: do it."),
      }),
      destructive: true,
      idempotent: true,
      openWorld: true,
    },
  }),
  config_delete: verb({
    help: "Stop and delete the apps of configuration files; default: the files applied last",
    role: "admin",
    reach: "everything",
    input: z.strictObject({
      ...selection,
      only: about(
        z.optional(words),
        "Only these processes, not what they depend on: names, `ns:…`, `tag:…` or `label:…`",
      ),
      config_path: paths,
    }),
    bare: "config_path",
    output: bulkResult,
    rest: [{
      method: "POST",
      path: "/config/delete",
      body: "ConfigDelete",
      answers: "ConfigDeleted",
    }],
  }),
};
