/** Downloads lines as a file. */

import { jsonLines, messageOf, send } from "../data/api.ts";
import type { LogRow } from "./log_rows.ts";
import { toast } from "../shell/notices.ts";
import type { LogLine } from "../../../../model/log_line.ts";
import { plainLine } from "./ansi.ts";
import { isOneProcess } from "./log_panes.ts";

const CHUNK = 20_000;

/** Saves lines as text. With several apps, each line has its time and name. */
export function downloadLines(lines: readonly LogRow[], targets: readonly string[]): void {
  const isOne = isOneProcess(targets);
  const parts: string[] = [];
  // Use several strings: the length of a string is limited.
  for (let i = 0; i < lines.length; i += CHUNK) {
    parts.push(lines.slice(i, i + CHUNK).map((line) => `${lineText(line, isOne)}\n`).join(""));
  }
  save(parts, targets);
}

/** Saves the full log from the daemon, with the raw output of the apps. */
export async function downloadWhole(targets: readonly string[]): Promise<void> {
  const id = toast("busy", "Fetching the whole log…");
  const isOne = isOneProcess(targets);
  const query = new URLSearchParams([["lines", "0"], ...targets.map((name) => ["target", name])]);
  const parts: string[] = [];
  let count = 0;
  try {
    for await (const batch of jsonLines<LogLine>(await send(`/logs?${query}`))) {
      count += batch.length;
      parts.push(
        batch.map(({ at, name, line }) => isOne ? `${line}\n` : `${at} ${name} ${line}\n`).join(""),
      );
    }
    save(parts, targets);
    toast("done", `${count.toLocaleString("en")} lines downloaded`, { id });
  } catch (error) {
    toast("failed", "The download failed", { id, detail: messageOf(error) });
  }
}

function save(parts: readonly string[], targets: readonly string[]): void {
  const isOne = targets.length === 1;
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([...parts], { type: "text/plain" }));
  link.download = `${isOne ? targets[0]!.replaceAll(":", "-") : "procsup"}.log`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

function lineText({ at, name, text, trace = [] }: LogRow, isOne: boolean): string {
  const head = isOne ? "" : `${new Date(at).toISOString()} ${name} `;
  return [text, ...trace].map((line) => head + plainLine(line)).join("\n");
}
