/** `procsup context`: names for machines and engines, and the one that commands use. */

import { ProcsupError } from "../../model/errors.ts";
import { nameProblem } from "../../model/name.ts";
import { dirname } from "@std/path";
import { replaceFile } from "../../platform/files/atomic_file.ts";
import { type Column, printList } from "../columns.ts";
import type { CommandContext } from "../command.ts";
import {
  type Contexts,
  contextsFile,
  type Destination,
  destinationText,
  readContexts,
  refuseForeign,
  THIS_MACHINE,
} from "../../contexts/contexts.ts";
import { checkDestination } from "../../contexts/ssh.ts";
import { printDone } from "../output.ts";
import { refuseUseless } from "./export.ts";
import { engineIn, machineIn } from "../target_flags.ts";
import { refuseFlags, refuseMore, verbIn } from "../unknown_word.ts";
import { commandHint } from "../../model/hint.ts";

type Verb = (context: CommandContext, words: readonly string[]) => Promise<void>;

const VERBS: Readonly<Record<string, Verb>> = { list, add, use, remove };

/** Lists the contexts, or runs a verb. */
export async function context(context: CommandContext): Promise<void> {
  const [verb = "list", ...words] = context.positionals;
  const act = verbIn("context", VERBS, verb);
  refuseMore(`context ${verb}`, words, verb === "list" ? 0 : verb === "add" ? 2 : 1);
  if (verb !== "add") refuseFlags(context, `context ${verb}`);
  await act(context, words);
}

/** Adds a machine, or an engine with `--on`. */
async function add(context: CommandContext, [name, host]: readonly string[]): Promise<void> {
  const { flags, output } = context;
  if (name === undefined || (host === undefined) === (flags.text("on") === undefined)) {
    throw new ProcsupError("bad_request", '"context add" takes a name, and a host or --on ENGINE', {
      hint: "procsup context add <name> <user@server>, or: procsup context add <name> --on swarm",
    });
  }
  const problem = name === THIS_MACHINE ? "means this machine" : nameProblem(name);
  if (problem !== undefined) {
    throw new ProcsupError("bad_request", `Invalid context "${name}": the name ${problem}`);
  }
  const destination = destinationOf(context, host);
  const { contexts, ...rest } = readContexts();
  write({ ...rest, contexts: { ...contexts, [name]: destination } });
  const text = `context "${name}" is ${destinationText(destination)}`;
  await printDone(output, { status: "added", name, ...destination }, text);
  output.note(
    `  hint: procsup --host ${name} list, or for every command: procsup context use ${name}`,
  );
}

function destinationOf(context: CommandContext, host: string | undefined): Destination {
  const { flags } = context;
  if (host !== undefined) {
    refuseFlags(context, "context add <name> <host>");
    checkDestination(host);
    return machineIn(flags, { destination: host });
  }
  const on = flags.text("on")!;
  refuseUseless(flags, on);
  if (on !== THIS_MACHINE) return engineIn(flags, { on });
  throw new ProcsupError("bad_request", `"${THIS_MACHINE}" is this machine, and needs no context`);
}

async function use({ output }: CommandContext, [name]: readonly string[]): Promise<void> {
  const { contexts } = readContexts();
  const isHere = name === THIS_MACHINE;
  write({ use: isHere ? undefined : known(contexts, name), contexts });
  const machine = isHere ? "this machine" : name;
  await printDone(output, { status: "used", name }, `commands go to ${machine}`);
}

async function remove({ output }: CommandContext, [name]: readonly string[]): Promise<void> {
  const { contexts, use } = readContexts();
  const { [known(contexts, name)]: _, ...rest } = contexts;
  write({ use: use === name ? undefined : use, contexts: rest });
  await printDone(output, { status: "removed", name }, `context "${name}" is removed`);
}

function known(contexts: Contexts["contexts"], name: string | undefined): string {
  if (name !== undefined && Object.hasOwn(contexts, name)) return name;
  const message = name === undefined ? "Name a context" : `No context "${name}"`;
  throw new ProcsupError("not_found", message, { hint: commandHint("context list") });
}

type Row = Destination & { readonly name: string; readonly used: boolean };

const COLUMNS: readonly Column<Row>[] = [
  { header: "NAME", priority: 0, value: ({ name, used }) => used ? `${name} *` : name },
  { header: "WHERE", priority: 0, value: destinationText },
];

async function list({ output }: CommandContext): Promise<void> {
  const { contexts, use = THIS_MACHINE } = readContexts();
  const all = Object.entries({ [THIS_MACHINE]: { destination: "-" }, ...contexts });
  const rows = all.map(([name, one]): Row => ({ name, used: name === use, ...one }));
  await printList(output, COLUMNS, rows, "");
}

function write(contexts: Contexts): void {
  const path = contextsFile();
  if (path === undefined) {
    throw new ProcsupError("home_unusable", "Cannot store contexts: HOME is not set");
  }
  // The links of another user could lead anywhere.
  refuseForeign(path);
  Deno.mkdirSync(dirname(path), { recursive: true });
  replaceFile(path, `${JSON.stringify(contexts, null, 2)}\n`);
}
