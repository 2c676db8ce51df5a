// deno-lint-ignore-file no-console
/**
 * `deno task demo`: a tour of procsup with three small apps in under 30 seconds, using the real command
 * line in a temporary home. It leaves nothing behind. With `--stay`, everything keeps running until
 * Ctrl-C. The exit code is 1 if a check fails.
 */

import { shellWord } from "../src/model/shell_line.ts";
import { APPS, Stage, WORDS } from "./demo/stage.ts";
import { tour } from "./demo/tour.ts";

const INTERRUPTED = 130;
const PROCSUP = WORDS.map(shellWord).join(" ");

async function main(args: readonly string[]): Promise<number> {
  const unknown = args.find((arg) => arg !== "--stay");
  if (unknown !== undefined) {
    console.error(`Unknown argument "${unknown}"; the only one is --stay`);
    return 2;
  }
  const stage = new Stage();
  const interrupted = interruption();
  const startedAt = performance.now();
  let code = 0;
  try {
    const end = await Promise.race([tour(stage).then(() => "done"), interrupted]);
    if (end === "done" && args.includes("--stay")) await stay(stage, interrupted);
    else if (end !== "done") code = INTERRUPTED;
  } catch (error) {
    console.error(`\n✘ ${error instanceof Error ? error.message : error}`);
    code = 1;
  }
  return await cleanUp(stage, startedAt) ? code : 1;
}

/** Shuts down. Returns whether nothing is left. */
async function cleanUp(stage: Stage, startedAt: number): Promise<boolean> {
  console.log("\n$ procsup shutdown --yes");
  const left = await stage.close();
  for (const what of left) console.error(`✘ left behind: ${what}`);
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(0);
  if (left.length === 0) console.log(`✔ nothing is left behind (${seconds} s)`);
  return left.length === 0;
}

async function stay(stage: Stage, interrupted: Promise<string>): Promise<void> {
  console.log(`
The apps stay up until Ctrl-C. In another terminal, in ${APPS}:

  export PROCSUP_HOME=${shellWord(stage.home)}
  ${PROCSUP} list
  ${PROCSUP} logs -f
  ${PROCSUP} events
  ${PROCSUP} restart web
  ${PROCSUP} status worker`);
  await interrupted;
}

/** Resolves at the first SIGINT, SIGTERM or SIGHUP. */
function interruption(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
      Deno.addSignalListener(signal, () => resolve(signal));
    }
  });
}

function next(): void {
  console.log(`
Try next:
  ${PROCSUP} start <your app>     then: list, logs -f, why, restart, stop
  ${PROCSUP} help`);
}

const code = await main(Deno.args);
if (code === 0 && Deno.args.length === 0) next();
Deno.exit(code);
