/** `procsup import`: another tool's file as a procsup.yaml. */

import { ConfigProblem } from "../../config/problem.ts";
import { didYouMean } from "../../model/did_you_mean.ts";
import { ProcsupError } from "../../model/errors.ts";
import { basename } from "../../npm/path.js";
import { absolute } from "../../platform/paths.ts";
import type { CommandContext } from "../command.ts";
import { reportProblems } from "../config_problems.ts";
import { writeMessage } from "../output.ts";
import { shellWord } from "../shell_word.ts";

const TOOLS: readonly (readonly [RegExp, string])[] = [
  [/^(ecosystem|pm2)\b.*\.([cm]?js|json|ya?ml)$|^dump\.pm2/, "pm2"],
  [/\.(conf|ini)$/, "supervisord"],
  [/^Procfile(\..+)?$|\.procfile$/i, "procfile"],
  [/^process-compose.*\.ya?ml$/, "compose"],
];

/** Prints the converted file, or writes it; what was lost is told. */
export async function importFile(context: CommandContext): Promise<number> {
  const { importFile, IMPORTER_NAMES } = await import("../../config/import/import_file.ts");
  const [first, second] = context.positionals as [string, string | undefined];
  const [tool, word] = second === undefined ? [toolOf(first), first] : [first, second];
  if (!IMPORTER_NAMES.includes(tool)) {
    const near = didYouMean(tool, IMPORTER_NAMES);
    throw new ProcsupError("bad_request", `Cannot import from "${tool}"`, {
      hint: near === undefined
        ? `One of: ${IMPORTER_NAMES.join(", ")}`
        : `Did you mean "procsup import ${near}"?`,
    });
  }
  const out = context.flags.text("out");
  try {
    const file = absolute(word);
    const { yaml, notes } = await importFile(tool, file, Deno.env.toObject());
    // Lost keys are news even for who asked to be spared messages.
    for (const { process, text } of notes) {
      writeMessage(`not taken${process === undefined ? "" : ` (${process})`}: ${text}\n`);
    }
    if (out === undefined) context.output.content(yaml.trimEnd());
    else write(out, yaml);
    return 0;
  } catch (error) {
    if (error instanceof ConfigProblem) return reportProblems(error, Deno.cwd());
    throw error;
  }
}

/** Whose file it is, by its name, where only the file was given. */
function toolOf(file: string): string {
  const name = basename(file);
  const found = TOOLS.find(([pattern]) => pattern.test(name));
  if (found !== undefined) return found[1];
  if (TOOLS.some(([, tool]) => tool === file)) {
    throw new ProcsupError("bad_request", "Nothing to import: no file", {
      hint: `procsup import ${file} <file>`,
    });
  }
  throw new ProcsupError("bad_request", `Cannot tell whose file "${file}" is`, {
    hint: `Say so: procsup import pm2|supervisord|procfile|compose ${shellWord(file)}`,
  });
}

/** A file that is there is somebody's work. */
function write(path: string, text: string): void {
  try {
    Deno.writeTextFileSync(path, text, { createNew: true, mode: 0o600 });
  } catch (error) {
    if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
    throw new ProcsupError("bad_request", `The file "${path}" exists already`, {
      hint: "Name another with --out",
    });
  }
}
