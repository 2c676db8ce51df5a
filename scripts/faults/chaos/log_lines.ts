/** Checks that logs and archives hold every line that the apps wrote, once and in order. */

import { listArchives, openArchive } from "../../../src/logs/archives.ts";
import { readPosition } from "../../../src/logs/log_position.ts";

/** Describes missing and repeated lines. */
export async function lineProblems(home: string, folder: string): Promise<string[]> {
  const problems: string[] = [];
  const found = new Map<string, number>();
  for (const { name } of Deno.readDirSync(`${home}/apps`)) {
    for (const stream of ["stdout", "stderr"]) {
      const path = `${home}/apps/${name}/${stream}.log`;
      problems.push(...count(await wholeText(path), path, found));
    }
  }
  for (const { name: file } of Deno.readDirSync(`${folder}/counts`)) {
    const written = Number(Deno.readTextFileSync(`${folder}/counts/${file}`).split("\n")[0]);
    const runId = file.slice(file.lastIndexOf(".") + 1);
    for (const stream of ["o", "e"]) {
      const there = found.get(`${runId} ${stream}`) ?? 0;
      if (there < written) {
        problems.push(`${file} wrote ${written} lines to ${stream}, ${there} are there`);
      }
    }
  }
  return problems;
}

async function wholeText(path: string): Promise<string> {
  const { base } = readPosition(path);
  let text = "";
  for (const archive of listArchives(path, base)) {
    const bytes = await openArchive(archive);
    if (bytes !== undefined) text += await new Response(bytes).text();
  }
  try {
    return text + await Deno.readTextFile(path);
  } catch {
    return text;
  }
}

/** Reads the consecutive numbers of a text. */
function count(text: string, path: string, found: Map<string, number>): string[] {
  const problems: string[] = [];
  for (const line of text.split("\n")) {
    const parts = /^(\S+) ([0-9a-f-]{36}) ([oe]) (\d+)$/.exec(line);
    if (parts === null) {
      if (/\d$/.test(line)) problems.push(`${path}: torn line "${line}"`);
      continue;
    }
    const key = `${parts[2]} ${parts[3]}`;
    const [before, now] = [found.get(key) ?? 0, Number(parts[4])];
    if (now !== before + 1) problems.push(`${path}: ${key} ${now} after ${before}`);
    found.set(key, now);
  }
  return problems;
}
