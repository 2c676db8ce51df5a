/** Detects how Node.js supports TypeScript. */

import { askProgram } from "../platform/as_user.ts";
import type { Tools } from "./tools.ts";

/** Natively, with a flag, or not at all. */
export type TypeScriptSupport = "native" | "flag" | "none";

const known = new Map<string, TypeScriptSupport>();

/**
 * How this `node` supports TypeScript. Runs it once, for about 30 ms. The shim of a version manager may
 * differ by folder and user, so the result is cached for both.
 */
export function typeScriptSupport(node: string, tools: Tools): TypeScriptSupport {
  const { cwd, path, user } = tools;
  const key = [node, Deno.statSync(node).mtime?.getTime(), cwd, path, user?.uid].join("\0");
  let support = known.get(key);
  if (support === undefined) {
    support = supportOf(versionOf(node, tools));
    known.set(key, support);
  }
  return support;
}

/** Support by version: `v22.18.0` strips types by default, `v22.6.0` with a flag. */
export function supportOf(version: string): TypeScriptSupport {
  const match = /^v?(\d+)\.(\d+)/.exec(version);
  const major = Number(match?.[1] ?? 0);
  const minor = Number(match?.[2] ?? 0);
  if (major >= 24 || (major === 23 && minor >= 6) || (major === 22 && minor >= 18)) return "native";
  return major === 23 || (major === 22 && minor >= 6) ? "flag" : "none";
}

/** Empty if it fails: the app will report the reason when it starts. */
function versionOf(node: string, { cwd, path, user }: Tools): string {
  const env: Record<string, string> = { PATH: path };
  if (user?.home !== undefined) env.HOME = user.home;
  return askProgram(user, { argv: [node, "--version"], env }, cwd);
}
