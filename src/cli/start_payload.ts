/** Converts words and flags of `start` into payloads for the daemon. */

import { ProcsupError } from "../model/errors.ts";
import { nameFromPath } from "../model/name.ts";
import { isTargetForm } from "../model/target.ts";
import { resolve } from "@std/path";
import { shellWord, splitWords } from "../model/shell_line.ts";
import type { StartPayload } from "../protocol/wire.ts";
import { configKeys, type Place, some } from "./config_flags.ts";
import { configFlags } from "./flags.ts";

/** The command line of `start` and its environment. */
interface StartRequest extends Place {
  readonly positionals: readonly string[];
  readonly rest: readonly string[] | undefined;
}

/** One payload for each app. Throws `bad_request` for words that do not fit together. */
export function startPayloads(request: StartRequest): StartPayload[] {
  const { positionals, rest, flags } = request;
  if (positionals.length === 0) {
    const [command = "", ...args] = rest ?? [];
    // The daemon looks up a bare word on PATH.
    const path = command.includes("/") ? resolve(request.cwd, command) : command;
    return [{ ...config(request, path), ...some("args", args) }];
  }
  if (positionals.length > 1 && flags.text("name") !== undefined) {
    throw new ProcsupError("bad_request", "Cannot give one name to several apps", {
      hint: "Start them one by one",
    });
  }
  return positionals.map((word) => {
    // A quoted command is one word: `start "npm run web"`. Names contain no spaces.
    if (
      !isTargetForm(word) && /^[^:]*\S\s/.test(word) && !request.isFile(resolve(request.cwd, word))
    ) {
      return quotedCommand(word, request);
    }
    const path = entrypointPath(word, request);
    return path === undefined
      ? existing(word, request)
      : { ...config(request, path), ...some("args", rest ?? []) };
  });
}

/** The app is named after its script, if any: `node x.js` is `x`. */
function quotedCommand(word: string, request: StartRequest): StartPayload {
  const words = splitWords(word);
  const program = words.find((one) => /\w\.\w+$/.test(one)) ??
    words.find((one) => !one.includes("=")) ?? word;
  const { entrypoint: _, ...keys } = config(request, program);
  return { ...keys, command: [word, ...(request.rest ?? []).map(shellWord)].join(" ") };
}

function existing(word: string, { flags, rest }: StartRequest): StartPayload {
  const own = configFlags();
  const given = flags.names().find((name) => own.some((flag) => flag.name === name));
  if (given === undefined && rest === undefined) return { target: word };
  const what = given === undefined ? "arguments" : `--${given}`;
  const name = flags.text("name");
  const asCommand = onPathHint([word, ...rest ?? []], name);
  throw new ProcsupError("bad_request", `Cannot use ${what} with "${word}": no such file`, {
    // With `--name`, a new app is meant.
    hint: name === undefined
      ? `A process that exists is changed by: procsup restart ${
        shellWord(word)
      } <flags>. ${asCommand}`
      : asCommand,
  });
}

/** The command line that starts a command on PATH. */
export function onPathHint(words: readonly string[], name?: string): string {
  const flags = name === undefined ? "" : `--name ${shellWord(name)} `;
  const command = words.map(shellWord).join(" ");
  return `A command on PATH is started with: procsup start ${flags}-- ${command}`;
}

/** The file that a word names; undefined if it names an existing process. A target needs `./`. */
function entrypointPath(word: string, { cwd, flags, isFile }: StartRequest): string | undefined {
  if (isTargetForm(word)) return undefined;
  const here = resolve(cwd, word);
  if (isFile(here)) return here;
  // Paths are relative to the current directory, but `--cwd DIR app.ts` is accepted too.
  const there = resolve(cwd, flags.text("cwd") ?? ".", word);
  if (isFile(there)) return there;
  return word.includes("/") || word === "." ? here : undefined;
}

function config(request: StartRequest, entrypoint: string): Record<string, unknown> {
  const { name, cwd, ...keys } = configKeys(request);
  return {
    name: name ?? nameFromPath(entrypoint),
    entrypoint,
    cwd: cwd ?? resolve(request.cwd, "."),
    ...keys,
  };
}
