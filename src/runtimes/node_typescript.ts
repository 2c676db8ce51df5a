/** What a Node.js does with TypeScript. */

import { askProgram } from "../platform/as_user.ts";
import type { Tools } from "./tools.ts";

/** Runs it as it is, with a flag, or not at all. */
export type TypeScriptSupport = "native" | "flag" | "none";

const known = new Map<string, TypeScriptSupport>();

/**
 * What this `node` does with TypeScript, asked of it once: about 30 ms. A version manager's shim may
 * answer otherwise in another folder and for another user, so these count too.
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

/** Support by version text: `v22.18.0` strips types by itself, `v22.6.0` when told to. */
export function supportOf(version: string): TypeScriptSupport {
  const match = /^v?(\d+)\.(\d+)/.exec(version);
  const major = Number(match?.[1] ?? 0);
  const minor = Number(match?.[2] ?? 0);
  if (major >= 24 || (major === 23 && minor >= 6) || (major === 22 && minor >= 18)) return "native";
  return major === 23 || (major === 22 && minor >= 6) ? "flag" : "none";
}

/** Empty when it does not answer: it will say itself, when the app starts, why it cannot run. */
function versionOf(node: string, { cwd, path, user }: Tools): string {
  const env: Record<string, string> = { PATH: path };
  if (user?.home !== undefined) env.HOME = user.home;
  return askProgram(user, { argv: [node, "--version"], env }, cwd);
}
