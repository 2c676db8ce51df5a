/** `procsup import`: another tool's file as a procsup.yaml. */

import { ConfigProblem } from "../../config/problem.ts";
import { didYouMean } from "../../model/did_you_mean.ts";
import { ProcsupError } from "../../model/errors.ts";
import { absolute } from "../../platform/paths.ts";
import type { CommandContext } from "../command.ts";
import { reportProblems } from "../config_problems.ts";
import { writeMessage } from "../output.ts";
import { plainText } from "../terminal_text.ts";

/** Prints the converted file, or writes it; what was lost is told. */
export async function run(context: CommandContext): Promise<number> {
  const { importFile, IMPORTER_NAMES } = await import("../../config/import/import_file.ts");
  const [tool, word] = context.positionals as [string, string];
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
      writeMessage(
        plainText(`not taken${process === undefined ? "" : ` (${process})`}: ${text}\n`),
      );
    }
    if (out === undefined) context.output.data(yaml.trimEnd());
    else write(out, yaml);
    return 0;
  } catch (error) {
    if (error instanceof ConfigProblem) return reportProblems(error, Deno.cwd());
    throw error;
  }
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
