/** Runs commands on an engine: `--on ENGINE`, or a context that names one. */

import {
  type Backend,
  type Copy,
  enginesOf,
  type ExportRequest,
  openBackend,
  type Rollout,
} from "../../export/mod.ts";
import { ERROR_TABLE, ProcsupError } from "../../model/errors.ts";
import { plainText } from "../../model/plain_text.ts";
import { dirname } from "@std/path";
import { kindOf } from "../../config/file_kind.ts";
import { fromHere, here } from "../../platform/files/paths.ts";
import { lookAt } from "../../platform/files/stat.ts";
import { type Column, printList, printTable } from "../columns.ts";
import type { CommandContext } from "../command.ts";
import type { Engine } from "../../contexts/contexts.ts";
import { PLACE_FLAGS } from "../flags.ts";
import { printData, refusePids, writeMessage } from "../output.ts";
import { exported } from "./export.ts";

export type { Copy };

type Verb = (context: CommandContext, backend: Backend) => Promise<number | void>;

const VERBS: Readonly<Record<string, Verb>> = {
  ...{ up, list, why, scale, down },
  logs: ({ flags, positionals, output }, backend) =>
    backend.logs(positionals, {
      ...{ follow: flags.on("follow"), lines: flags.int("lines") ?? 50 },
      print: (line, stream) => output.content(line, stream),
    }),
  reload: async (context, backend) => {
    const done: Rollout[] = [];
    for (const app of context.positionals) done.push(...await backend.reload(app));
    return await printRollouts(context, done);
  },
};

const NO_APPS = "the stack has no apps there";

/** Flags of single commands that work on an engine. */
const FLAGS: Readonly<Record<string, readonly string[]>> = {
  up: ["image", "ports", "strict", "profile", "detach"],
  logs: ["follow", "lines"],
};

export async function onEngine(context: CommandContext): Promise<number | void> {
  const { command, output } = context;
  const engine = context.engine!;
  refuseOthers(context, engine);
  refusePids(output, `on ${engine.on}`);
  const file = ["up", "down"].includes(command.name) ? onlyFile(context, engine) : undefined;
  const folder = file === undefined ? here() : dirname(file);
  const onProgress = (text: string) => output.note(text);
  const backend = await openBackend({ ...engine, onProgress }, folder);
  return await VERBS[command.name]!(context, backend);
}

/** Throws `bad_request` for commands and flags that have no meaning on the engine. */
function refuseOthers({ flags, command }: CommandContext, { on }: Engine): void {
  if (!Object.hasOwn(VERBS, command.name)) {
    const words = Object.keys(VERBS);
    throw new ProcsupError("bad_request", `Commands go to ${on}, which has no "${command.name}"`, {
      hint: `It has ${words.join(", ")}. For this machine: procsup --host local ${command.name}`,
    });
  }
  const known = [...PLACE_FLAGS.map(({ name }) => name), ...FLAGS[command.name] ?? []]
    .filter((name) => enginesOf(name)?.includes(on) !== false);
  const own = new Set(command.flags.map(({ name }) => name));
  const other = flags.names()
    .find((name) => own.has(name) && name !== "on" && !known.includes(name));
  if (other === undefined) return;
  const words = known.map((one) => `--${one}`);
  throw new ProcsupError("bad_request", `Cannot use --${other} on ${on}`, {
    hint: `procsup ${command.name} --on ${on} takes ${words.join(", ")}`,
  });
}

/**
 * The named file. Throws `invalid_config` if it is missing, and `bad_request` for other words: all
 * apps of a file go up or down.
 */
function onlyFile(
  { command, positionals, rest = [] }: CommandContext,
  { on }: Engine,
): string | undefined {
  const words = [...positionals, ...rest];
  if (words.length === 0) return undefined;
  const path = fromHere(words[0]!);
  if (words.length === 1 && lookAt(path)?.isFile) return path;
  if (words.length === 1 && kindOf(path) !== undefined && lookAt(path) === undefined) {
    throw new ProcsupError("invalid_config", `${words[0]}: no such file`);
  }
  const { name } = command;
  const what = `"${name}" on ${on} takes one configuration file, not "${words.join(" ")}"`;
  throw new ProcsupError("bad_request", what, {
    hint: `Its apps are one stack: procsup ${name} procsup.yaml --on ${on}`,
  });
}

async function up(context: CommandContext, backend: Backend): Promise<number> {
  const engine = context.engine!.on as ExportRequest["to"];
  const result = await exported(context, engine, context.positionals[0]);
  const { file, apps } = result.stack;
  if (apps.length === 0) {
    throw new ProcsupError("bad_request", `"${file}" has no apps`, {
      hint: `To remove the stack: procsup down --on ${engine}`,
    });
  }
  return await printRollouts(context, await backend.up(result));
}

/** Lists the copies on a context's engine. */
export async function listEngine(
  engine: Engine & { readonly signal: AbortSignal },
  names: readonly string[],
): Promise<Copy[]> {
  return named(await (await openBackend(engine, here())).list(), names);
}

function named(copies: readonly Copy[], names: readonly string[]): Copy[] {
  return copies
    .filter(({ app, name }) => names.length === 0 || names.includes(app) || names.includes(name));
}

async function list({ output, positionals }: CommandContext, backend: Backend): Promise<void> {
  const all = await backend.list();
  const unknown = positionals.find((name) => named(all, [name]).length === 0);
  if (unknown !== undefined) throw backend.unknownApp(unknown, all.map(({ app }) => app));
  await printList(output, COPY_COLUMNS, named(all, positionals), NO_APPS);
}

async function why({ output, positionals }: CommandContext, backend: Backend): Promise<void> {
  const found = await backend.why(positionals[0]!);
  if (await printData(output, found)) return;
  printTable(output, COPY_COLUMNS, found.copies);
  for (const line of found.history) output.data(`  ${plainText(line)}`);
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

async function down({ output }: CommandContext, backend: Backend): Promise<void> {
  const apps = await backend.down();
  if (await printData(output, { status: "deleted", apps }, apps)) return;
  for (const app of apps) output.done(`✔ ${app}  deleted`);
  if (apps.length === 0) output.note(NO_APPS);
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

export const COPY_COLUMNS: readonly Column<Copy>[] = [
  { header: "NAME", priority: 0, value: ({ name }) => name },
  { header: "STATE", priority: 0, value: ({ state }) => state },
  { header: "NODE", priority: 1, value: ({ node }) => node },
  { header: "IMAGE", priority: 2, value: ({ image }) => image },
  { header: "REASON", priority: 3, value: ({ reason }) => plainText(reason) || "-" },
];
