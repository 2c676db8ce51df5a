/** `procsup export`: converts the configuration file into files for an engine. */

import {
  enginesOf,
  type Exported,
  type ExportedFile,
  type ExportRequest,
  EXPORTS,
  loadExport,
} from "../../export/mod.ts";
import { ProcsupError } from "../../model/errors.ts";
import { replaceFile } from "../../platform/files/atomic_file.ts";
import { fromHere } from "../../platform/files/paths.ts";
import type { CommandContext } from "../command.ts";
import type { Flags } from "../flags.ts";
import { readSource } from "../config_source.ts";
import { counted } from "../human.ts";
import { printData, writeMessage } from "../output.ts";
import { meantHint } from "../unknown_word.ts";

/** Prints the files, or writes them to a folder. */
export async function exportFile(context: CommandContext): Promise<void> {
  const [to, file] = context.positionals as [string, string | undefined];
  const found = EXPORTS.find((name) => name === to);
  if (found === undefined) {
    throw new ProcsupError("bad_request", `Cannot export to "${to}"`, {
      hint: meantHint("procsup export ", to, EXPORTS),
    });
  }
  const { stack, files } = await exported(context, found, file);
  const out = context.flags.text("out");
  if (out !== undefined) return write(context, out, files);
  const data = { files, losses: stack.losses };
  if (await printData(context.output, data, files.map(({ path }) => path))) return;
  print(context, files);
}

/** Throws `bad_request` for a flag that an engine has no use for. */
export function refuseUseless(flags: Flags, engine: string): void {
  const useless = flags.names().find((name) => enginesOf(name)?.includes(engine) === false);
  if (useless === undefined) return;
  throw new ProcsupError("bad_request", `Cannot use --${useless} for ${engine}`, {
    hint: `It is for ${enginesOf(useless)!.join(", ")}`,
  });
}

/** Exports a file to an engine. Prints the keys without a counterpart; `--strict` refuses them. */
export async function exported(
  context: CommandContext,
  to: ExportRequest["to"],
  file: string | undefined,
): Promise<Exported> {
  const { flags, engine } = context;
  refuseUseless(flags, to);
  const { exportStack, lossText } = await loadExport();
  const words = file === undefined ? [] : [file];
  const { files, loaded, payload } = await readSource(context, words, { elsewhere: true });
  const result = exportStack({
    to,
    file: files[0]!,
    loaded,
    image: flags.text("image"),
    profile: payload.profile,
    base: flags.text("base"),
    ports: flags.text("ports") === "host" ? "host" : undefined,
    stack: flags.text("stack") ?? engine?.stack,
  });
  const { losses } = result.stack;
  // Even with `--quiet`.
  for (const loss of losses) writeMessage(`no counterpart: ${lossText(loss)}\n`);
  if (losses.length === 0 || !flags.on("strict")) return result;
  const keys = counted(losses.length, "key has", "keys have");
  throw new ProcsupError("bad_request", `${keys} no counterpart on ${to}`, {
    hint: "Nothing was written; without --strict they become comments",
  });
}

function write({ output }: CommandContext, folder: string, files: readonly ExportedFile[]): void {
  Deno.mkdirSync(folder, { recursive: true });
  for (const { path, text } of files) {
    replaceFile(`${fromHere(folder)}/${path}`, text);
    output.done(`✔ ${folder}/${path}`);
  }
}

/** Prints the files; several files get their name above each, as in `systemctl cat`. */
function print({ output }: CommandContext, files: readonly ExportedFile[]): void {
  const shown = files.filter(({ path }) => path !== ".dockerignore");
  for (const { path, text } of shown) {
    const isMarked = shown.length > 1 && !path.endsWith(".json");
    output.content(`${isMarked ? `# ${path}\n` : ""}${text.trimEnd()}${isMarked ? "\n" : ""}`);
  }
}
