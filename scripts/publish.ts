/**
 * Publishes the library and the program to JSR as two packages, so that programs that use the
 * library do not download the dashboard: `deno run -A scripts/publish.ts [--dry-run]`. In the
 * settings of `@procsup/procsup` at jsr.io, mark Deno, Node.js and Bun: `./client` runs under each.
 */

import config from "../deno.json" with { type: "json" };
import { runStep } from "./checks/steps.ts";

const ROOT = import.meta.dirname!.replace(/\/scripts$/, "");
const { tasks: _, workspace: members, ...library } = config;

const importsOf = (member: string): object =>
  JSON.parse(Deno.readTextFileSync(`${ROOT}/${member}/deno.json`)).imports ?? {};

/**
 * The program also has the files that the library excludes. The workspace members are a part of it,
 * and not packages of their own.
 */
const PROGRAM = {
  ...library,
  imports: Object.assign({}, library.imports, ...members.map(importsOf)),
  lock: false,
  name: "@procsup/cli",
  exports: "./main.ts",
  publish: { include: ["main.ts", ...config.publish.include], exclude: ["src/**/tests"] },
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
