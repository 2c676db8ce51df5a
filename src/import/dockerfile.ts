/** Finds out what a Dockerfile runs. */

import { ifPossible } from "../model/errors.ts";
import { splitWords } from "../model/shell_line.ts";
import { readForeignFile } from "../platform/files/foreign_file.ts";

/** What an image runs, and how. */
export interface Image {
  /** Whether the Dockerfile exists. */
  readonly found: boolean;
  readonly entrypoint: readonly string[];
  readonly command: readonly string[];
  readonly workdir?: string;
  readonly env: Readonly<Record<string, string>>;
  readonly stopSignal?: string;
  readonly user?: string;
  readonly healthcheck?: string;
  /** Variables that hold paths or values of the base image. */
  readonly lost: readonly string[];
  /** What runs commands that are not in JSON form. */
  readonly shell: readonly string[];
  /** Whether this stage, not the one that it is based on, has a CMD. */
  readonly hasOwnCommand?: boolean;
}

export interface ImageSource {
  readonly file: string;
  /** The instructions, in place of a file. */
  readonly inline?: string | undefined;
  /** The stage; by default the last one. */
  readonly target: string | undefined;
  /** Values of the build arguments (`ARG`), by name. */
  readonly args: Readonly<Record<string, string>>;
}

const EMPTY: Image = {
  ...{ found: true, entrypoint: [], command: [], env: {}, lost: [] },
  shell: ["/bin/sh", "-c"],
};

type Args = Record<string, string | undefined>;

const INSTRUCTIONS: Readonly<Record<string, (rest: string, image: Image, args: Args) => object>> = {
  CMD: (rest, { shell }) => ({ command: wordsOf(rest, shell), hasOwnCommand: true }),
  // It discards the CMD of the stage below.
  ENTRYPOINT: (rest, { shell, hasOwnCommand, command }) => ({
    entrypoint: wordsOf(rest, shell),
    command: hasOwnCommand ? command : [],
  }),
  SHELL: (rest) => ({ shell: wordsOf(rest, []) }),
  WORKDIR: (rest) => ({ workdir: rest.trim() }),
  ENV: withVariables,
  STOPSIGNAL: (rest) => ({ stopSignal: rest.trim() }),
  USER: (rest) => ({ user: rest.trim() }),
  HEALTHCHECK: (rest) => ({ healthcheck: rest.trim() }),
};

/** Reads the target stage, or the last one, including the stages it is based on. */
export function readDockerfile({ file, inline, target, args: given }: ImageSource): Image {
  const text = inline ?? ifPossible(() => readForeignFile(file));
  if (text === undefined) return { ...EMPTY, found: false };
  const stages = new Map<string, Image>();
  let last = EMPTY;
  let name = "";
  let args: Args = {};
  // A comment may stand between the lines of one instruction.
  for (const line of text.replace(/\\[ \t]*\r?\n([ \t]*#.*\n)*/g, " ").split("\n")) {
    const [, word = "", rest = ""] = /^\s*([A-Za-z]+)\s+(.*)$/.exec(line.trim()) ?? [];
    const instruction = word.toUpperCase();
    if (instruction === "FROM") {
      if (name !== "" && name === target) break;
      const [, base = "", as] = /^(?:--\S+\s+)?(\S+)(?:\s+as\s+(\S+))?/i.exec(rest) ?? [];
      last = { ...stages.get(base) ?? EMPTY, hasOwnCommand: false };
      name = as ?? String(stages.size);
      args = {};
    } else if (instruction === "ARG") {
      for (const [key, value] of pairsOf(rest)) args[key] = given[key] ?? value;
    } else if (Object.hasOwn(INSTRUCTIONS, instruction)) {
      last = { ...last, ...INSTRUCTIONS[instruction]!(rest, last, args) };
    }
    stages.set(name, last);
  }
  return last;
}

/** `NAME=value` pairs, or one name and its value after a space. */
function pairsOf(text: string): (readonly [name: string, value: string | undefined])[] {
  const [, name, value] = /^(\w+)\s+([^=].*)$/.exec(text.trim()) ?? [];
  if (name !== undefined) return [[name, value]];
  return splitWords(text).map((word) => {
    const [key, value] = word.split(/=(.*)/s);
    return [key!, value];
  });
}

/** Adds the variables of an ENV. PATH is the container's. */
function withVariables(rest: string, { env, lost }: Image, args: Args): Partial<Image> {
  const known: Args = Object.assign(Object.create(null), args, env);
  const made = pairsOf(rest).map(([name, value = ""]) => ({ name, value: filled(value, known) }));
  const isKept = ({ name, value }: (typeof made)[number]) => value !== undefined && name !== "PATH";
  return {
    env: {
      ...env,
      ...Object.fromEntries(made.filter(isKept).map(({ name, value }) => [name, value!])),
    },
    lost: [...lost, ...made.filter((one) => !isKept(one)).map(({ name }) => name)],
  };
}

/** A value with its variables filled in; undefined if the Dockerfile does not set one of them. */
function filled(text: string, known: Args): string | undefined {
  let isKnown = true;
  const value = text.replace(
    /\$(?:(\w+)|\{(\w+)(?::-([^}]*))?\})/g,
    (_, bare?: string, name = bare, usual?: string) => {
      const value = known[name!] || usual;
      isKnown &&= value !== undefined;
      return value ?? "";
    },
  );
  return isKnown ? value : undefined;
}

/** Parses the JSON form, or runs the text with the shell. */
function wordsOf(text: string, shell: readonly string[]): string[] {
  if (!text.trim().startsWith("[")) return [...shell, text.trim()];
  return ifPossible(() => (JSON.parse(text) as unknown[]).map(String)) ??
    splitWords(text.replace(/^\[|\]$/g, "").replaceAll(",", " "));
}
