/** The commands that change apps. */

import type { Command } from "../command.ts";
import { NO_WAIT, START_FLAGS } from "./start_flags.ts";

const MANY = Infinity;

/** Commands that change apps. */
export const APP_COMMANDS: readonly Command[] = [
  {
    name: "start",
    group: "Apps",
    summary: "Start an app, or one that was stopped",
    usage: "<script|binary|target…> [-- args…]",
    words: [1, MANY],
    takesRest: true,
    flags: START_FLAGS,
    examples: [
      "procsup start api.ts --name api -i 2",
      "procsup start server.py -e PORT=8080 -- --verbose",
      "procsup start -- caddy run",
      "procsup start api",
    ],
    load: () => import("../commands/start.ts"),
  },
  {
    name: "stop",
    group: "Apps",
    summary: "Stop apps and all they started",
    usage: "<target…>",
    words: [1, MANY],
    flags: [
      { name: "force", type: "bool", help: "SIGKILL at once" },
      { name: "timeout", type: "text", value: "DURATION", help: "grace before SIGKILL" },
    ],
    examples: ["procsup stop api", "procsup stop all --timeout 30s"],
    load: () => import("../commands/stop.ts"),
  },
  {
    name: "restart",
    group: "Apps",
    summary: "Stop apps and start them again",
    usage: "<target…>",
    words: [1, MANY],
    flags: [NO_WAIT],
    examples: ["procsup restart api", "procsup restart tag:web"],
    load: () => import("../commands/restart.ts"),
  },
  {
    name: "reload",
    group: "Apps",
    summary: "Restart apps gently, or have them reload by themselves",
    usage: "<target…>",
    words: [1, MANY],
    flags: [NO_WAIT],
    examples: ["procsup reload api"],
    load: () => import("../commands/reload.ts"),
  },
  {
    name: "delete",
    aliases: { del: [], rm: [], remove: [] },
    group: "Apps",
    summary: "Stop apps and forget them",
    usage: "<target…>",
    words: [1, MANY],
    flags: [],
    examples: ["procsup delete api", "procsup delete all --yes"],
    load: () => import("../commands/delete.ts"),
  },
  {
    name: "signal",
    aliases: { sendSignal: [] },
    group: "Apps",
    summary: "Send a signal to apps",
    usage: "<signal> <target…>",
    words: [2, MANY],
    flags: [],
    examples: ["procsup signal HUP api", "procsup signal SIGUSR1 all"],
    load: () => import("../commands/signal.ts"),
  },
  {
    name: "save",
    aliases: { dump: [] },
    group: "Apps",
    summary: "Save the list of apps for resurrect",
    usage: "",
    words: [0, 0],
    flags: [],
    examples: [],
    load: () => import("../commands/save.ts"),
  },
  {
    name: "resurrect",
    group: "Apps",
    summary: "Bring the saved apps back",
    usage: "",
    words: [0, 0],
    flags: [],
    examples: [],
    load: () => import("../commands/resurrect.ts"),
  },
];
