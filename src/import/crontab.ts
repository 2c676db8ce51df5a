/** Converts crontabs: of a user, and of the system with the user of each job. */

import { isMap } from "../model/merge_patch.ts";
import { nameFromPath } from "../model/name.ts";
import { shellWord, splitWords } from "../model/shell_line.ts";
import { ifPossible } from "../model/errors.ts";
import { readForeignFile } from "../platform/files/foreign_file.ts";
import type { ConfigDocument, Path, Place } from "../config/document.ts";
import { ConfigProblem } from "../config/problem.ts";
import { type ImportContext, type Imported, type Importer, type Keys, lost } from "./imported.ts";
import { ImportResult } from "./import_result.ts";
import { reference } from "./references.ts";

export const crontab: Importer = {
  matches: ({ kind }) => kind === "crontab",
  convert,
};

const SETTING = /^\s*([A-Za-z_]\w*|"[^"]*"|'[^']*')\s*=\s*(.*?)\s*$/;

/** Five fields or a word, and the rest of the line. */
const JOB = /^\s*-?(@[a-z]+|(?:[^\s@]\S*\s+){4}\S+)\s+(.+?)\s*$/;

/** Minutes, hours and so on, and names of months and days. */
const FIELD = /^[\d*,/~-]+$|^[a-z]{3}([,-][a-z]{3})*$/i;

interface Job {
  readonly line: number;
  readonly when: string;
  /** What follows the schedule. */
  readonly rest: string;
  readonly settings: Readonly<Record<string, string>>;
}

function convert(document: ConfigDocument, context: ImportContext): Imported {
  const { file, text } = document;
  const jobs = jobsOf(file, text);
  if (jobs.length === 0) {
    throw new ConfigProblem(file, "no job: expected lines of: * * * * * command");
  }
  const placeOf = ([line]: Path): Place | undefined =>
    typeof line === "number" ? { file, line, column: 1 } : undefined;
  const result = new ImportResult(document, { context, placeOf });
  const users = homesOfUsers();
  const isSystem = /(^\/etc\/crontab|\/cron\.d\/[^/]+)$/.test(file) ||
    jobs.every(({ rest }) => /^(root|nobody|www-data)\s+\S/.test(rest)) ||
    jobs.every(({ rest }) => users.has(splitUser(rest).user));
  for (const job of jobs) addJob(job, isSystem, users, result);
  return result.imported();
}

function jobsOf(file: string, text: string): Job[] {
  let settings: Record<string, string> = {};
  return text.split(/\r?\n/).flatMap((raw, index): Job[] => {
    if (/^\s*(#|$)/.test(raw)) return [];
    const [, name, value] = SETTING.exec(raw) ?? [];
    if (name !== undefined) {
      const plain = (word: string) => word.replace(/^(["'])(.*)\1$/, "$2");
      settings = { ...settings, [plain(name)]: plain(value!) };
      return [];
    }
    const [, when, rest] = JOB.exec(raw) ?? [];
    if (
      when !== undefined &&
      (when.startsWith("@") || when.split(/\s+/).every((one) => FIELD.test(one)))
    ) {
      return [{ line: index + 1, when, rest: rest!, settings }];
    }
    throw new ConfigProblem(
      file,
      "not a crontab: expected five fields and a command, or NAME=value",
      {
        place: { file, line: index + 1, column: 1 },
      },
    );
  });
}

function splitUser(rest: string) {
  const [, user = "", command = ""] = /^(\S+)\s+(.*)$/.exec(rest) ?? [];
  return { user, command };
}

/** Users of this machine and their folders. */
function homesOfUsers(): ReadonlyMap<string, string> {
  const text = ifPossible(() => readForeignFile("/etc/passwd")) ?? "";
  const fields = text.split("\n").map((line) => line.split(":"));
  return new Map(
    fields.filter(([name]) => name).map(([name, , , , , home]) => [name!, home ?? "/"]),
  );
}

/** Settings of cron, which are no variables of the jobs, or of no use to them. */
const OF_CRON = new Set([
  "SHELL",
  "MAILTO",
  "MAILFROM",
  "CRON_TZ",
  "HOME",
  "RANDOM_DELAY",
  "CONTENT_TYPE",
]);

function addJob(
  { line, when, rest, settings }: Job,
  isSystem: boolean,
  users: ReadonlyMap<string, string>,
  result: ImportResult,
): void {
  const { user, command } = isSystem ? splitUser(rest) : { user: undefined, command: rest };
  const { SHELL = "/bin/sh", MAILTO = "", CRON_TZ, RANDOM_DELAY } = settings;
  const home = settings.HOME ?? (user === undefined ? reference("HOME") : users.get(user));
  const atBoot = when === "@reboot";
  const schedule = CRON_TZ === undefined ? when : { schedule: when, timezone: CRON_TZ };
  const keys: Keys = {
    entrypoint: SHELL,
    args: ["-c", withInput(command)],
    cwd: home ?? "/",
    uid: user,
    inherit_env: ["LOGNAME", "USER", "LANG"],
    env: {
      PATH: "/usr/bin:/bin",
      HOME: home,
      SHELL,
      ...Object.fromEntries(Object.entries(settings).filter(([name]) => !OF_CRON.has(name))),
    },
    restart_policy: "never",
    ...(atBoot ? {} : { cron: isMap(schedule) ? schedule : { schedule } }),
  };
  const from = { path: [line], keys: { cron: "schedule", uid: "user" } };
  const taken = result.add(nameOf(command), keys, from);
  const notes = [
    ...(atBoot ? [lost([], "it also runs with each procsup up of this file", "@reboot")] : []),
    ...(MAILTO === ""
      ? []
      : [lost([], "procsup logs keeps the output; webhooks report failures", `MAILTO=${MAILTO}`)]),
    ...(RANDOM_DELAY === undefined
      ? []
      : [lost([], "it runs at the exact time", `RANDOM_DELAY=${RANDOM_DELAY}`)]),
    ...(user !== undefined && home === undefined
      ? [lost([], `no such user here, so its folder is unknown: cwd is /`, `user ${user}`)]
      : []),
  ];
  result.note(taken, ...notes);
}

/** The name of the first program or script in a command. */
function nameOf(command: string): string {
  const words = splitWords(command.split("%")[0]!).filter((word) => !/^\w+=/.test(word));
  const at = words.findIndex((word) => word === "&&" || word === ";");
  const own = /^cd$/.test(words[0] ?? "") && at >= 0 ? words.slice(at + 1) : words;
  const script = own.find((word, index) =>
    index > 0 && /\.\w{1,4}$/.test(word) && !word.startsWith("-")
  );
  const isRunner = /(^|\/)(ba|da|z)?sh$|(^|\/)(python[\d.]*|node|php|ruby|perl|deno|bun)$/.test(
    own[0] ?? "",
  );
  return nameFromPath((isRunner ? script : undefined) ?? own[0] ?? "job");
}

/** Text after a `%` is the input of the command, with a line for each further `%`. */
function withInput(command: string): string {
  const [line = "", ...input] = command.replace(/\\%/g, "\0").split("%")
    .map((part) => part.replaceAll("\0", "%"));
  if (input.length === 0) return line;
  return `printf '%s\\n' ${input.map(shellWord).join(" ")} | { ${line.trim()}; }`;
}
