/** `procsup import`: converts another tool's file into a procsup.yaml. */

import { type Note, noteLines } from "../../config/problem.ts";
import { type Findings, loadImport, TOOL_NAMES } from "../../import/mod.ts";
import { ProcsupError } from "../../model/errors.ts";
import { dirname } from "@std/path";
import { replaceFile } from "../../platform/files/atomic_file.ts";
import { fromHere, here } from "../../platform/files/paths.ts";
import { lookAt } from "../../platform/files/stat.ts";
import type { CommandContext } from "../command.ts";
import { writeMessage } from "../output.ts";
import { meantHint } from "../unknown_word.ts";

/** Prints or writes the converted file, and lists the settings that were lost. */
export async function importFile(context: CommandContext): Promise<void> {
  const { importFile } = await loadImport();
  const [first, second] = context.positionals as [string, string | undefined];
  const [tool, word] = second === undefined ? [undefined, first] : [first, second];
  if (tool === undefined ? TOOL_NAMES.includes(first) : !TOOL_NAMES.includes(tool)) {
    throw misnamed(first, second, TOOL_NAMES);
  }
  const out = context.flags.text("out");
  const file = fromHere(word);
  const { yaml, notes, missing, hasRelativePaths } = await importFile(file, {
    tool,
    env: Deno.env.toObject(),
    findings: await findingsOf(context),
    withDocker: context.flags.on("with-docker"),
  });
  // Lost settings are printed even with `--quiet`.
  writeNotes(context, notes, missing);
  if (out === undefined) context.output.content(yaml.trimEnd());
  else {
    writeNew(out, yaml, context.flags.on("force"));
    const folder = dirname(file);
    if (dirname(fromHere(out)) === folder || !hasRelativePaths) return;
    context.output.note(`relative paths in it are those of ${folder}: move it there`);
  }
}

/** What `procsup config validate` would say about a file. */
async function findingsOf({ home }: CommandContext): Promise<Findings> {
  const { findingsIn } = await import("../../daemon/check_files.ts");
  return async (loaded) => (await findingsIn(loaded, home)).problems;
}

/** Prints what was lost, and what is missing here to start it. */
function writeNotes(
  { flags, output }: CommandContext,
  notes: readonly Note[],
  missing: readonly ProcsupError[],
): void {
  for (const line of noteLines(notes, flags.on("notes"))) writeMessage(`${line}\n`);
  for (const { message } of missing) output.note(`before procsup up: ${message}`);
}

/** Writes a commented procsup.yaml for the apps found in the folder. */
export async function init(context: CommandContext): Promise<void> {
  const { initialConfig } = await loadImport();
  const folder = here();
  const { from, yaml, notes, missing } = await initialConfig(folder, {
    env: Deno.env.toObject(),
    findings: await findingsOf(context),
  });
  writeNew("procsup.yaml", yaml, context.flags.on("force"));
  writeNotes(context, notes, missing);
  context.output.done(`✔ procsup.yaml, from ${from}`);
  context.output.note("check it, then: procsup up");
}

function misnamed(first: string, file: string | undefined, tools: readonly string[]): ProcsupError {
  if (file === undefined) {
    return new ProcsupError("bad_request", "Nothing to import: no file", {
      hint: `procsup import ${first} <file>`,
    });
  }
  return new ProcsupError("bad_request", `Cannot import from "${first}"`, {
    hint: meantHint("procsup import ", first, tools),
  });
}

/** Writes a file that only its owner can read. Replaces an existing file only with `force`. */
function writeNew(path: string, text: string, force: boolean): void {
  try {
    if (force) replaceFile(fromHere(path), text);
    else Deno.writeTextFileSync(path, text, { createNew: true, mode: 0o600 });
  } catch (error) {
    if (lookAt(path)?.isDirectory) {
      throw new ProcsupError("bad_request", `Cannot write "${path}": it is a folder`);
    }
    if (error instanceof Deno.errors.AlreadyExists) {
      throw new ProcsupError("bad_request", `The file "${path}" exists already`, {
        hint: "--force replaces it",
      });
    }
    if (error instanceof Deno.errors.PermissionDenied) {
      throw new ProcsupError("forbidden", `Not allowed to write "${path}"`);
    }
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) {
      throw new ProcsupError("bad_request", `Cannot write "${path}": no such folder`);
    }
    throw error;
  }
}
