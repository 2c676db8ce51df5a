// deno-lint-ignore-file no-console
/**
 * `deno task bench`: measures procsup side by side with PM2 (Linux).
 *
 * `--only cli,list,start,memory,idle,recovery,output` selects figures; `--write` writes the table to
 * src/docs/benchmark.md, between `<!-- bench -->` and `<!-- /bench -->`.
 */

import type { Contender } from "./contender.ts";
import { cli, list, start } from "./figures/commands.ts";
import { idle } from "./figures/idle.ts";
import { memory } from "./figures/memory.ts";
import { output } from "./figures/output.ts";
import { recovery } from "./figures/recovery.ts";
import { Pm2 } from "./pm2.ts";
import { Procsup } from "./procsup.ts";
import { readTextFile, run } from "./system.ts";
import { markdownTable, reached, type Row } from "./table.ts";

const FIGURES = { cli, list, start, memory, idle, recovery, output } as const;

type Figure = keyof typeof FIGURES;

const PAGE = import.meta.dirname!.replace(/scripts\/bench$/, "src/docs/benchmark.md");

async function main(args: string[]): Promise<number> {
  const write = args.includes("--write");
  const only = args.includes("--only") ? args[args.indexOf("--only") + 1] ?? "" : undefined;
  const words = args.filter((word) => !["--write", "--only", only].includes(word));
  const names: string[] = only === undefined ? Object.keys(FIGURES) : only.split(",");
  const unknown = [...words, ...names.filter((name) => !(name in FIGURES))];
  if (unknown.length > 0) {
    console.error(`Unknown: ${unknown.join(", ")}; there are ${Object.keys(FIGURES).join(", ")}`);
    return 2;
  }
  const procsup = await Procsup.open();
  const pm2 = await Pm2.open();
  Deno.addSignalListener("SIGINT", async () => {
    await Promise.allSettled([procsup.close(), pm2.close()]);
    Deno.exit(130);
  });
  let text: string;
  try {
    const rows = await measure(names as Figure[], [procsup, pm2]);
    text = `${await machine(pm2)}\n\n${markdownTable(rows)}`;
  } finally {
    await Promise.allSettled([procsup.close(), pm2.close()]);
  }
  console.log(text);
  if (write) writePage(text);
  return 0;
}

async function measure(names: readonly Figure[], contenders: readonly Contender[]): Promise<Row[]> {
  const rows: Row[] = [];
  for (const name of names) {
    console.error(`measuring ${name} …`);
    rows.push(...await FIGURES[name](contenders));
  }
  const missed = rows.filter((row) => reached(row) === false);
  for (const { figure } of missed) console.error(`goal missed: ${figure}`);
  return rows;
}

/** Describes the machine and the versions. */
async function machine(pm2: Pm2): Promise<string> {
  const cpu = /^model name\s*:\s*(.*)$/m.exec(readTextFile("/proc/cpuinfo") ?? "")?.[1];
  const node = (await run(["node", "--version"], {})).stdout.trim();
  const date = new Date().toISOString().slice(0, 10);
  return `${date}, ${navigator.hardwareConcurrency} cores${
    cpu === undefined ? "" : ` of ${cpu}`
  }, ` +
    `Linux ${Deno.osRelease()}, Deno ${Deno.version.deno}; PM2 ${await pm2.versionText()} on ` +
    `Node.js ${node}. Medians, in parentheses the least and the most.`;
}

function writePage(text: string): void {
  const page = Deno.readTextFileSync(PAGE);
  const between = /(<!-- bench -->)[\s\S]*?(<!-- \/?bench -->)/;
  if (!between.test(page)) throw new Error("The page has no <!-- bench --> markers");
  Deno.writeTextFileSync(PAGE, page.replace(between, (_, a, b) => `${a}\n\n${text}\n\n${b}`));
}

Deno.exit(await main(Deno.args));
