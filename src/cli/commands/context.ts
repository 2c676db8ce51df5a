/** `procsup context`: names for other machines, and which of them commands are for. */

import { didYouMean } from "../../model/did_you_mean.ts";
import { ProcsupError } from "../../model/errors.ts";
import { nameProblem } from "../../model/name.ts";
import { dirname } from "../../npm/path.js";
import { replaceFile } from "../../platform/atomic_file.ts";
import { checkDestination } from "../ssh.ts";
import { type Column, tableLines } from "../columns.ts";
import type { CommandContext } from "../command.ts";
import { type Contexts, contextsFile, readContexts, THIS_MACHINE } from "../host.ts";
import { printData } from "../print_data.ts";

type Verb = (context: CommandContext, words: readonly string[]) => Promise<void> | void;

const VERBS: Readonly<Record<string, Verb>> = { list, add, use, remove };

/** Lists them, or one of the verbs. */
export async function context(context: CommandContext): Promise<void> {
  const [verb = "list", ...words] = context.positionals;
  if (Object.hasOwn(VERBS, verb)) return await VERBS[verb]!(context, words);
  const near = didYouMean(verb, Object.keys(VERBS));
  throw new ProcsupError("bad_request", `Unknown word "${verb}" after "context"`, {
    hint: near === undefined ? "procsup help context" : `Did you mean "procsup context ${near}"?`,
  });
}

/** With `--home` and `--remote-procsup`, which then belong to that machine. */
function add({ flags, output }: CommandContext, [name, destination]: readonly string[]): void {
  if (name === undefined || destination === undefined) {
    throw new ProcsupError("bad_request", 'Too few words for "context add"', {
      hint: "procsup context add <name> <user@server>",
    });
  }
  const problem = name === THIS_MACHINE ? "means this machine" : nameProblem(name);
  if (problem !== undefined) {
    throw new ProcsupError("bad_request", `Invalid context "${name}": the name ${problem}`);
  }
  checkDestination(destination);
  const [home, program] = [flags.text("home"), flags.text("remote-procsup")];
  const machine = { destination, ...(home && { home }), ...(program && { program }) };
  const { contexts, ...rest } = readContexts();
  write({ ...rest, contexts: { ...contexts, [name]: machine } });
  output.done(`✔ context "${name}" is ${destination}`);
  output.note(
    `  hint: procsup --host ${name} list, or for every command: procsup context use ${name}`,
  );
}

function use({ output }: CommandContext, [name]: readonly string[]): void {
  const { contexts } = readContexts();
  if (name === THIS_MACHINE) {
    write({ contexts });
    return output.done("✔ commands are for this machine");
  }
  write({ use: known(contexts, name), contexts });
  output.done(`✔ commands are for ${name}`);
}

function remove({ output }: CommandContext, [name]: readonly string[]): void {
  const { contexts, use } = readContexts();
  const { [known(contexts, name)]: _, ...rest } = contexts;
  write({ ...(use === undefined || use === name ? {} : { use }), contexts: rest });
  output.done(`✔ context "${name}" is removed`);
}

function known(contexts: Contexts["contexts"], name: string | undefined): string {
  if (name !== undefined && Object.hasOwn(contexts, name)) return name;
  const message = name === undefined ? "No context is named" : `No context "${name}"`;
  throw new ProcsupError("not_found", message, { hint: "procsup context list" });
}

interface Row {
  readonly name: string;
  readonly used: boolean;
  readonly destination: string;
}

const COLUMNS: readonly Column<Row>[] = [
  { header: "NAME", priority: 0, value: ({ name, used }) => used ? `${name} *` : name },
  { header: "HOST", priority: 0, value: ({ destination }) => destination },
];

async function list({ output }: CommandContext): Promise<void> {
  const { contexts, use = THIS_MACHINE } = readContexts();
  const all = { [THIS_MACHINE]: { destination: "-" }, ...contexts };
  const rows = Object.entries(all).map(([name, { destination, ...rest }]) => (
    { name, used: name === use, destination, ...rest }
  ));
  if (await printData(output, rows, rows.map(({ name }) => name))) return;
  output.data(tableLines(COLUMNS, rows, output.width).join("\n"));
}

function write(contexts: Contexts): void {
  const path = contextsFile();
  if (path === undefined) {
    throw new ProcsupError("home_unusable", "Cannot keep contexts: HOME is not set");
  }
  Deno.mkdirSync(dirname(path), { recursive: true });
  replaceFile(path, `${JSON.stringify(contexts, null, 2)}\n`);
}
