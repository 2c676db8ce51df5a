/** Finds out what a Dockerfile runs. */

import { splitWords } from "../../model/shell_line.ts";
import { readForeignFile } from "../../platform/foreign_file.ts";

/** ENTRYPOINT, CMD and WORKDIR of an image. */
export interface Command {
  /** Whether the Dockerfile exists. */
  readonly found: boolean;
  readonly entrypoint: readonly string[];
  readonly command: readonly string[];
  readonly workdir: string | undefined;
}

/** Reads the target stage, or the last one, including the stages it is based on. */
export function dockerfileCommand(
  { file, target }: { readonly file: string; readonly target: string | undefined },
): Command {
  let text: string;
  try {
    text = readForeignFile(file);
  } catch {
    return { found: false, entrypoint: [], command: [], workdir: undefined };
  }
  const stages = new Map<string, Command>();
  let last: Command = { found: true, entrypoint: [], command: [], workdir: undefined };
  let name = "";
  for (const line of text.replace(/\\\r?\n/g, " ").split("\n")) {
    const [, word = "", rest = ""] = /^\s*([A-Za-z]+)\s+(.*)$/.exec(line.trim()) ?? [];
    const instruction = word.toUpperCase();
    if (instruction === "FROM") {
      if (name !== "" && name === target) break;
      const [, base = "", as] = /^(?:--\S+\s+)?(\S+)(?:\s+as\s+(\S+))?/i.exec(rest) ?? [];
      last = stages.get(base) ?? { found: true, entrypoint: [], command: [], workdir: undefined };
      name = as ?? String(stages.size);
    } else if (instruction === "CMD") last = { ...last, command: wordsOf(rest) };
    else if (instruction === "ENTRYPOINT") {
      last = { ...last, entrypoint: wordsOf(rest), command: [] };
    } else if (instruction === "WORKDIR") last = { ...last, workdir: rest.trim() };
    stages.set(name, last);
  }
  return last;
}

/** Parses the JSON form, or runs the text with a shell. */
function wordsOf(text: string): string[] {
  if (!text.trim().startsWith("[")) return ["/bin/sh", "-c", text.trim()];
  try {
    return (JSON.parse(text) as unknown[]).map(String);
  } catch {
    return splitWords(text.replace(/^\[|\]$/g, "").replaceAll(",", " "));
  }
}
