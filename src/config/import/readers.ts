/** The reader of each other tool, loaded when a file needs it. */

import type { ToolName } from "../tools.ts";
import type { Importer } from "./imported.ts";

export const READERS: Readonly<Record<ToolName, () => Promise<Importer>>> = {
  pm2: async () => (await import("./pm2.ts")).pm2,
  "process-compose": async () => (await import("./process_compose.ts")).processCompose,
  circus: async () => (await import("./circus.ts")).circus,
  supervisord: async () => (await import("./supervisord.ts")).supervisord,
  procfile: async () => (await import("./procfile.ts")).procfile,
  mprocs: async () => (await import("./mprocs.ts")).mprocs,
  pup: async () => (await import("./pup.ts")).pup,
  compose: async () => (await import("./compose.ts")).compose,
  systemd: async () => (await import("./systemd.ts")).systemd,
  crontab: async () => (await import("./crontab.ts")).crontab,
};
