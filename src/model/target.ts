/** How processes are addressed, on every surface. Exact beats prefix; a prefix must be unique. */

import { didYouMean, nearestWord } from "./nearest_word.ts";
import { type ErrorDetails, ProcsupError, quote } from "./errors.ts";
import { baseName, nameProblem } from "./name.ts";

/** The properties of a process that targets match. */
export interface Addressable {
  readonly id: string;
  readonly numericId: number;
  readonly name: string;
  readonly namespace: string;
  readonly tags: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
}

/** Several processes match a target that must match one. */
export class AmbiguousTargetError extends ProcsupError {
  /** Names of the processes that matched. */
  readonly matches: readonly string[];

  /** Creates an error with the names of the matching processes. */
  constructor(message: string, matches: readonly string[], options?: ErrorDetails) {
    super("ambiguous_target", message, options);
    this.matches = matches;
  }
}

/** The error for a target that matches several processes instead of one. */
export function ambiguous(
  target: string,
  found: readonly { readonly id: string; readonly name: string }[],
): AmbiguousTargetError {
  const shown = found.map(({ id, name }) => `${name} (${id.slice(0, 8)})`).join(", ");
  return new AmbiguousTargetError(
    `Target "${target}" is ambiguous: it matches ${shown}`,
    found.map(({ name }) => name),
  );
}

/** A shorter start of an id may be meant as a name: that of a deleted app, such as `db`. */
const MIN_PREFIX = 4;

/**
 * The processes that `target` addresses: `all`, `ns:…`, `tag:…`, `label:k=v`, a numeric id, a UUID,
 * a name, a base name (every instance), `name:*`, `group:name` or a unique prefix of an id. Throws
 * `ambiguous_target`, `bad_request`, and `process_not_found` if nothing matches; `all` may match
 * nothing.
 */
export function resolveTarget<P extends Addressable>(
  target: string,
  processes: readonly P[],
  minPrefix = MIN_PREFIX,
): P[] {
  checkTarget(target);
  if (target === "all") return [...processes];
  const meant = withoutGroup(target, processes);
  const selects = selectorOf(meant);
  const found = selects
    ? processes.filter(selects)
    : exact(meant, processes) ?? (target.length < minPrefix ? [] : byPrefix(target, processes));
  if (found.length === 0 && target !== idsTarget([])) throw notFound(target, processes);
  return found;
}

/**
 * The target without the group in which supervisord has it: `web:*` is `web` if there is such an
 * app, otherwise `ns:web`; `shop:web` is the `web` of the namespace `shop`.
 */
export function withoutGroup(
  target: string,
  processes: readonly Pick<Addressable, "name" | "namespace">[],
): string {
  const [group, member] = atColon(target);
  const isPlain = group === undefined || selectorOf(target) !== undefined;
  if (isPlain || processes.some(({ name }) => name === target)) return target;
  const inGroup = processes.filter(({ namespace }) => namespace === group);
  if (member !== "*") return inGroup.some(({ name }) => isNameOf(member, name)) ? member : target;
  if (processes.some(({ name }) => baseName(name) === group)) return group;
  return inGroup.length > 0 ? `ns:${group}` : target;
}

/** Throws `bad_request` for a target that is empty or not well-formed Unicode. */
export function checkTarget(target: unknown): void {
  if (typeof target === "string" && target !== "" && target.isWellFormed()) return;
  throw new ProcsupError(
    "bad_request",
    `Invalid target ${quote(target)}: expected a name or an id`,
  );
}

/** The kind of `idsTarget()`. No namespace can have that name. */
const IDS = "@";

/** A target for exactly these processes, like a group. Only the daemon makes it. */
export function idsTarget(processes: readonly Pick<Addressable, "id">[]): string {
  return `${IDS}:${processes.map(({ id }) => id).join(",")}`;
}

/** Whether a target stands for any number of processes, even none. */
export function isGroup(target: string): boolean {
  return target === "all" || /^(@|ns|tag|label):|:\*$/.test(target);
}

/**
 * Why a word cannot limit a token to apps; undefined if it can. Ids cannot: an app that is created
 * again has another.
 */
export function limitProblem(word: string): string | undefined {
  const [kind, value] = atColon(word);
  const isSelector = ["ns", "tag", "label"].includes(kind ?? "") && value !== "";
  if (isSelector || nameProblem(baseName(word)) === undefined) return undefined;
  return "expected the name of an app, ns:NAMESPACE, tag:TAG or label:KEY=VALUE";
}

/** Whether a process is one of those that the words of `limitProblem()` select. */
export function isWithin(only: readonly string[], process: Addressable): boolean {
  return only.some((word) => selectorOf(word)?.(process) ?? isNameOf(word, process.name));
}

/** The test of `ns:…`, `tag:…` or `label:k=v`; undefined for any other target. */
export function selectorOf(target: string): ((process: Addressable) => boolean) | undefined {
  const [kind, value] = atColon(target);
  if (kind === IDS) {
    const ids = new Set(value.split(","));
    return ({ id }) => ids.has(id);
  }
  if (kind === "ns") return ({ namespace }) => namespace === value;
  if (kind === "tag") return ({ tags }) => tags.includes(value);
  if (kind !== "label") return undefined;
  const [key = "", wanted] = value.split(/=(.*)/s);
  return ({ labels }) =>
    Object.hasOwn(labels, key) && (wanted === undefined || labels[key] === wanted);
}

/**
 * Whether a word is a target by its form: `all`, a number, a selector, an instance or an id. A name
 * is not: nothing tells it from other words.
 */
export function isTargetForm(word: string): boolean {
  return word === "all" || /^\d+$/.test(word) || selectorOf(word) !== undefined ||
    /^[^/]*:(\d+|\*)$/.test(word) || /^[0-9a-f]{8}(-[0-9a-f-]+)?$/.test(word);
}

/** The text before the first colon, undefined without one, and the text after it. */
function atColon(target: string): [before: string | undefined, after: string] {
  const [, before, after = ""] = /^([^:]+):(.*)$/s.exec(target) ?? [];
  return [before, after];
}

/** Whether a target is this name, or the base name of it. */
export function isNameOf(target: string, name: string): boolean {
  return name === target || baseName(name) === target;
}

function exact<P extends Addressable>(target: string, processes: readonly P[]): P[] | undefined {
  const tests: ((process: P) => boolean)[] = [
    (process) => process.id === target,
    (process) => /^\d+$/.test(target) && process.numericId === Number(target),
    (process) => process.name === target,
    (process) => baseName(process.name) === target,
  ];
  for (const test of tests) {
    const found = processes.filter(test);
    if (found.length > 0) return found;
  }
  return undefined;
}

function byPrefix<P extends Addressable>(target: string, processes: readonly P[]): P[] {
  if (!/^[0-9a-f][0-9a-f-]*$/.test(target)) return [];
  const found = processes.filter((process) => process.id.startsWith(target));
  if (found.length > 1) throw ambiguous(target, found);
  return found;
}

/** The error for a target that matches nothing, with a suggestion. */
export function notFound(
  target: string,
  processes: readonly (Pick<Addressable, "name"> & Partial<Addressable>)[],
): ProcsupError {
  const group = groupMeant(target, processes);
  const names = processes.flatMap((process) => [process.name, baseName(process.name)]);
  // A command for whole apps may be given an instance of one.
  const near = group ?? nearestWord(target, names) ??
    names.find((name) => name === baseName(target));
  return new ProcsupError("process_not_found", "process not found", {
    hint: near === undefined
      ? { text: `Nothing matches "${target}"; see all processes`, command: { verb: "list" } }
      : `Nothing matches "${target}"; ${didYouMean(near)}`,
    near,
  });
}

/** Suggests the selector for a namespace or tag given without `ns:` or `tag:`. */
function groupMeant(
  target: string,
  processes: readonly (Pick<Addressable, "name"> & Partial<Addressable>)[],
): string | undefined {
  const [group = target] = atColon(target);
  if (processes.some(({ namespace }) => namespace === group)) return `ns:${group}`;
  const tagged = group === target && processes.some(({ tags }) => tags?.includes(target));
  return tagged ? `tag:${target}` : undefined;
}
