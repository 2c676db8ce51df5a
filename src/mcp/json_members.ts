/**
 * Edits members of objects in a user's JSON text. The rest keeps its comments, order and style.
 * `modify()` of jsonc-parser 3.3.1 reformats the neighboring member, loses comments and leaves a
 * stray comma after the last member.
 */

import { ProcsupError } from "../model/errors.ts";
import { findNodeAtLocation, type Node, parseTree } from "jsonc-parser";

type Path = readonly string[];

/** The value at a path; undefined if absent. Throws `wrong_state` if the text is not a JSON object. */
export function memberAt(text: string, path: Path): unknown {
  const node = findNodeAtLocation(rootOf(text), [...path]);
  return node === undefined ? undefined : JSON.parse(JSON.stringify(plain(node)));
}

/** Sets the value at a path and adds missing parents. Throws `wrong_state`. */
export function withMember(text: string, path: Path, value: unknown): string {
  const root = rootOf(text);
  const there = findNodeAtLocation(root, [...path]);
  if (there !== undefined) {
    return spliced(text, there.offset, there.length, written(text, value, path.length));
  }
  let depth = path.length - 1;
  while (depth > 0 && findNodeAtLocation(root, path.slice(0, depth)) === undefined) depth--;
  const parent = depth === 0 ? root : findNodeAtLocation(root, path.slice(0, depth))!;
  const rest = path.slice(depth + 1).reduceRight((inner, key) => ({ [key]: inner }), value);
  return addedTo(text, parent, path.slice(0, depth), path[depth]!, rest);
}

/** Removes the member at a path. Throws `wrong_state`. */
export function withoutMember(text: string, path: Path): string {
  const member = findNodeAtLocation(rootOf(text), [...path])?.parent;
  if (member?.parent === undefined) return text;
  const siblings = member.parent.children!;
  const at = siblings.indexOf(member);
  const end = endOf(member);
  const comma = commaIn(text, end, siblings[at + 1]?.offset ?? endOf(member.parent) - 1);
  const after = text.slice(comma === undefined ? end : comma + 1);
  const before = text.slice(0, member.offset);
  // Remove the whole line if it holds nothing else.
  const isLine = /^[ \t]*(?:\r?\n|$)/.test(after);
  const head = isLine ? before.trimEnd() : before;
  const remarks = comma === undefined ? "" : text.slice(end, comma).trim();
  const tail = remarks + (remarks.includes("//") ? "\n" : "") +
    (isLine ? after : after.trimStart());
  const prior = siblings[at - 1];
  const orphan = comma !== undefined || prior === undefined
    ? undefined
    : commaIn(text, endOf(prior), member.offset);
  return (orphan === undefined ? head : spliced(head, orphan, 1, "")) + tail;
}

/** Position of the first comma outside of comments. */
function commaIn(text: string, from: number, to: number): number | undefined {
  const between = text.slice(from, to)
    .replace(/\/\*[^]*?\*\/|\/\/.*/g, (comment) => " ".repeat(comment.length));
  const at = between.indexOf(",");
  return at < 0 ? undefined : from + at;
}

function endOf({ offset, length }: Node): number {
  return offset + length;
}

function addedTo(text: string, parent: Node, path: Path, key: string, value: unknown): string {
  if (parent.type !== "object") throw unmergeable(`its "${path.join(".")}" is not an object`);
  const last = parent.children?.at(-1);
  const from = last === undefined ? parent.offset + 1 : endOf(last);
  const close = endOf(parent) - 1;
  const between = text.slice(from, close);
  const kept = between.trimEnd();
  const hasComma = commaIn(text, from, close) !== undefined;
  const depth = path.length + 1;
  const { eol, unit } = styleOf(text);
  const member = `${eol}${unit.repeat(depth)}${JSON.stringify(key)}: ${
    written(text, value, depth)
  }`;
  const end = between.slice(kept.length).includes("\n")
    ? between.slice(kept.length)
    : eol + unit.repeat(depth - 1);
  const comma = last === undefined || hasComma ? "" : ",";
  return text.slice(0, from) + comma + kept + member + (hasComma ? "," : "") + end +
    text.slice(close);
}

/** Formats a value for its depth in the file. */
function written(text: string, value: unknown, depth: number): string {
  const { eol, unit } = styleOf(text);
  return JSON.stringify(value, null, unit).replaceAll("\n", eol + unit.repeat(depth));
}

/** Line ends and indentation of the file. */
function styleOf(text: string): { readonly eol: string; readonly unit: string } {
  return {
    eol: text.includes("\r\n") ? "\r\n" : "\n",
    unit: /^([ \t]+)["/]/m.exec(text)?.[1] ?? "  ",
  };
}

function rootOf(text: string): Node {
  const errors: unknown[] = [];
  const root = parseTree(text, errors as never, { allowTrailingComma: true });
  if (errors.length > 0 || root === undefined) throw unmergeable("it is not JSON");
  if (root.type !== "object") throw unmergeable("it does not hold an object");
  return root;
}

function plain(node: Node): unknown {
  if (node.type === "array") return (node.children ?? []).map(plain);
  if (node.type !== "object") return node.value;
  return Object.fromEntries(
    (node.children ?? []).map(({ children: [key, value] = [] }) => [key!.value, plain(value!)]),
  );
}

function spliced(text: string, offset: number, length: number, content: string): string {
  return text.slice(0, offset) + content + text.slice(offset + length);
}

function unmergeable(why: string): ProcsupError {
  return new ProcsupError("wrong_state", `Cannot edit the client's file: ${why}`, {
    hint: "Run the command with --print, and add the entry by hand",
  });
}
