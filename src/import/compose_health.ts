/** Converts health checks of docker compose. */

import { mapOf } from "../model/merge_patch.ts";
import { shellWord, singleQuoted } from "../model/shell_line.ts";
import type { Keys } from "./imported.ts";
import { reference } from "./references.ts";

/** A variable that compose fills in, or a `$$`. */
const VARIABLE = /\$(?:(\$)|([A-Za-z_]\w*)|\{([A-Za-z_]\w*)(?::?([-?+])([^}]*))?\})/g;

/** A health check. In compose it does not restart the service. `inside` runs it in the container. */
export function health(value: unknown, inside: string): Keys {
  const test = testOf(value);
  if (test === undefined) return {};
  const { interval, timeout, retries, start_period: grace_period } = mapOf(value);
  return {
    health_check: {
      type: "command",
      command: healthCommand(test, inside),
      interval: orDefault(interval, "30s"),
      timeout: orDefault(timeout, "30s"),
      retries: orDefault(retries, 3),
      grace_period,
      on_failure: "none",
    },
  };
}

/** Docker takes zero as not given. */
function orDefault(value: unknown, otherwise: unknown): unknown {
  return /^0+[a-z]*$/.test(String(value ?? 0)) ? otherwise : value;
}

/** The variables that compose fills in: the command of a health check has those of the app. */
export function healthVariables(value: unknown): Record<string, string> {
  const found = [...(testOf(value) ?? []).join(" ").matchAll(VARIABLE)];
  const variables = found.filter(([, dollar]) => dollar === undefined)
    .map(([, , bare, name = bare, sign, text]) => {
      const fallback = sign === "-" && !text!.includes("$") ? text : "";
      return [name!, reference(name!, sign === "?" ? undefined : fallback)];
    });
  return Object.fromEntries(variables);
}

function testOf(value: unknown): readonly string[] | undefined {
  const { test, disable } = mapOf(value);
  if (disable === true || test === undefined) return undefined;
  const all = Array.isArray(test) ? test.map(String) : ["CMD-SHELL", String(test)];
  return all[0] === "NONE" ? undefined : all;
}

function healthCommand([form, ...test]: readonly string[], inside: string): string {
  if (form !== "CMD-SHELL") return inside + test.map(quoted).join(" ");
  const line = test.join(" ");
  return inside === "" ? line.replaceAll("$$", "$") : `${inside}sh -c ${quoted(line)}`;
}

/** A word for the shell, which fills in what compose would. */
function quoted(word: string): string {
  let [at, text] = [0, ""];
  for (const match of word.matchAll(VARIABLE)) {
    if (match[1] !== undefined) continue;
    text += literal(word.slice(at, match.index)) + `"${match[0]}"`;
    at = match.index + match[0].length;
  }
  return at === 0 ? shellWord(word.replaceAll("$$", "$")) : text + literal(word.slice(at));
}

function literal(text: string): string {
  return text === "" ? "" : singleQuoted(text.replaceAll("$$", "$"));
}
