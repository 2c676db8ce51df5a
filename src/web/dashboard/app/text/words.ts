/** Splits what people type into arguments, as a shell would. Pure. */

/** The words of a line: blanks part them, quotes and backslashes keep them together. */
export function splitWords(line: string): string[] {
  const words: string[] = [];
  for (
    const match of line.matchAll(/(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|((?:[^\s"'\\]|\\.)+))(\s*)/g)
  ) {
    const [, double, single, bare, blank] = match;
    const text = single ?? (double ?? bare ?? "").replace(/\\(.)/g, "$1");
    const joins = words.length > 0 && words.at(-1)!.endsWith("\0");
    if (joins) words.push(words.pop()!.slice(0, -1) + text + (blank === "" ? "\0" : ""));
    else words.push(text + (blank === "" ? "\0" : ""));
  }
  return words.map((word) => word.replace(/\0$/, ""));
}

/** `KEY=value` lines as a map. Throws for a line that is none. */
export function readEnv(text: string): Record<string, string> {
  const lines = text.split("\n").map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"));
  return Object.fromEntries(lines.map((line) => {
    const at = line.indexOf("=");
    if (at < 1) throw new Error(`Invalid "env": ${JSON.stringify(line)} is not KEY=value`);
    return [line.slice(0, at), line.slice(at + 1)];
  }));
}

/** The object that a text is in JSON. Throws an error that names the field it is in. */
export function readObject(field: string, text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  } catch {
    // Said below.
  }
  throw new Error(`Invalid "${field}": it is not a JSON object`);
}
