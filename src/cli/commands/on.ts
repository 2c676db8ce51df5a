/** `--on ENGINE`: the words of the command line, for apps that an engine runs. */

import type { Backend, Copy, OnProgress, Rollout } from "../../export/backends/swarm.ts";
import { ERROR_TABLE, ProcsupError } from "../../model/errors.ts";
import { plainText } from "../../model/plain_text.ts";
import { type Column, printTable } from "../columns.ts";
import type { CommandContext } from "../command.ts";
import { writeMessage } from "../output.ts";
import { printData } from "../print_data.ts";
import { exported } from "./export.ts";

type Verb = (context: CommandContext, backend: Backend) => Promise<number>;

const VERBS: Readonly<Record<string, Verb>> = { start: up, list, logs, why, scale, roll, down };

/** Flags of those commands that mean something on an engine, besides those of every command. */
const FLAGS: Readonly<Record<string, readonly string[]>> = {
  start: ["image", "ports", "strict", "profile"],
  logs: ["follow", "lines"],
};

type Open = (stack: string, onProgress: OnProgress) => Promise<Backend>;

/** Engines that the command line drives. */
const BACKENDS: Readonly<Record<string, Open>> = {
  swarm: async (...of) => (await import("../../export/backends/swarm.ts")).swarm(...of),
  systemd: async (...of) => (await import("../../export/backends/systemd.ts")).systemd(...of),
};

/** Runs the command on the engine that `--on` names. */
export async function onEngine(context: CommandContext): Promise<number> {
  const { stackName } = await import("../../export/stack.ts");
  const { flags, command, output } = context;
  refuseOthers(context);
  const stack = stackName(Deno.cwd(), flags.text("stack"));
  const backend = await BACKENDS[flags.text("on")!]!(stack, (text) => output.note(text));
  return await VERBS[command.name]!(context, backend);
}

/** The daemon's own flags would be without effect. */
function refuseOthers({ flags, command }: CommandContext): void {
  const known = new Set(["on", "stack", ...FLAGS[command.name] ?? []]);
  const own = new Set(command.flags.map(({ name }) => name));
  const other = flags.names().find((name) => own.has(name) && !known.has(name));
  if (other === undefined) return;
  const name = command.name === "start" ? "up" : command.name;
  throw new ProcsupError("bad_request", `--${other} has no meaning with --on`, {
    hint: `procsup ${name} --on takes ${[...known].slice(1).map((one) => `--${one}`).join(", ")}`,
  });
}

async function up(context: CommandContext, backend: Backend): Promise<number> {
  const engine = context.flags.text("on") as "swarm" | "systemd";
  const result = await exported(context, engine, context.positionals[0]);
  return await printRollouts(context, await backend.up(result));
}

async function list({ output, positionals }: CommandContext, backend: Backend): Promise<number> {
  const copies = (await backend.list())
    .filter(({ app, name }) =>
      positionals.length === 0 || positionals.some((one) => [app, name].includes(one))
    );
  await printCopies(output, copies);
  if (copies.length === 0) output.note("nothing of it runs there");
  return 0;
}

async function logs({ flags, positionals }: CommandContext, backend: Backend): Promise<number> {
  return await backend.logs(positionals, {
    follow: flags.on("follow"),
    lines: flags.int("lines") ?? 50,
  });
}

async function why({ output, positionals }: CommandContext, backend: Backend): Promise<number> {
  const found = await backend.why(positionals[0]!);
  if (await printData(output, found)) return 0;
  await printCopies(output, found.copies);
  for (const line of found.history) output.data(`  ${plainText(line)}`);
  return 0;
}

async function scale(context: CommandContext, backend: Backend): Promise<number> {
  const [app, word] = context.positionals as [string, string];
  if (!/^[+-]?\d{1,4}$/.test(word)) {
    throw new ProcsupError("bad_request", `Invalid number of instances "${word}"`, {
      hint: "A whole number, or a change such as +1 or -1",
    });
  }
  const copies = (now: number) => /^\d/.test(word) ? Number(word) : Math.max(0, now + Number(word));
  return await printRollouts(context, await backend.scale(app, copies));
}

async function roll(context: CommandContext, backend: Backend): Promise<number> {
  return await printRollouts(context, await backend.roll(context.positionals[0]!));
}

async function down({ output }: CommandContext, backend: Backend): Promise<number> {
  const apps = await backend.down();
  if (await printData(output, { status: "deleted", apps }, apps)) return 0;
  for (const app of apps) output.done(`✔ ${app}  deleted`);
  if (apps.length === 0) output.note("nothing of it runs there");
  return 0;
}

async function printRollouts(
  { output }: CommandContext,
  rollouts: readonly Rollout[],
): Promise<number> {
  const names = rollouts.filter(({ ok }) => ok).map(({ app }) => app);
  const isText = !await printData(output, rollouts, names);
  for (const { app, ok, text } of rollouts) {
    if (!ok) writeMessage(`✘ ${app}  ${text}\n`);
    else if (isText) output.done(`✔ ${app}  ${text}`);
  }
  return rollouts.every(({ ok }) => ok) ? 0 : ERROR_TABLE.start_failed.exit;
}

const COLUMNS: readonly Column<Copy>[] = [
  { header: "NAME", priority: 0, value: ({ name }) => name },
  { header: "STATE", priority: 0, value: ({ state }) => state },
  { header: "NODE", priority: 1, value: ({ node }) => node },
  { header: "IMAGE", priority: 2, value: ({ image }) => image },
  { header: "REASON", priority: 3, value: ({ reason }) => plainText(reason) || "-" },
];

async function printCopies(
  output: CommandContext["output"],
  copies: readonly Copy[],
): Promise<void> {
  if (await printData(output, copies, copies.map(({ name }) => name))) return;
  printTable(output, COLUMNS, copies);
}
