/**
 * Publishes the library and the program to JSR as two packages, so that programs that use the
 * library do not download the dashboard: `deno run -A scripts/publish.ts [--dry-run]`. In the
 * settings of `@procsup/procsup` at jsr.io, mark Deno, Node.js and Bun: `./client` runs under each.
 */

import config from "../deno.json" with { type: "json" };
import { runStep } from "./checks/steps.ts";

const ROOT = import.meta.dirname!.replace(/\/scripts$/, "");
const { tasks: _, ...library } = config;

/** The program has the same dependencies, and also the files that the library excludes. */
const PROGRAM = {
  ...library,
  name: "@procsup/cli",
  exports: "./main.ts",
  publish: { include: ["main.ts", ...config.publish.include] },
};

const path = `${ROOT}/deno.cli.json`;
let failed = false;
try {
  Deno.writeTextFileSync(path, JSON.stringify(PROGRAM));
  for (const args of [[], ["--no-check", "--config", path]]) {
    const { status } = await runStep(ROOT, {
      name: args.length === 0 ? config.name : PROGRAM.name,
      args: ["publish", "--allow-dirty", ...args, ...Deno.args],
    });
    failed ||= status !== 0;
  }
} finally {
  Deno.removeSync(path);
}
Deno.exit(failed ? 1 : 0);
