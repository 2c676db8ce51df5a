/** Health checks of compose services. */

import { shellWord, singleQuoted } from "../../model/shell_line.ts";
import { isMap } from "../document.ts";
import { type Keys, reference } from "./imported.ts";

/** A variable that compose fills in, or a `$$`. */
const VARIABLE = /\$(?:(\$)|([A-Za-z_]\w*)|\{([A-Za-z_]\w*)(?::?([-?+])([^}]*))?\})/g;

/** A health check. In compose it does not restart the service. `inside` runs it in the container. */
export function health(value: unknown, inside: string): Keys {
  const test = testOf(value);
  if (test === undefined || !isMap(value)) return {};
  return {
    health_check: {
      type: "command",
      command: commandOf(test, inside),
      interval: orDefault(value.interval, "30s"),
      timeout: orDefault(value.timeout, "30s"),
      retries: orDefault(value.retries, 3),
      ...(value.start_period === undefined ? {} : { grace_period: value.start_period }),
      on_failure: "none",
    },
  };
}

/** Docker takes zero as not given. */
function orDefault(value: unknown, otherwise: unknown): unknown {
  return value === undefined || value === null || /^0+[a-z]*$/.test(String(value))
    ? otherwise
    : value;
}

/** The variables that compose fills in: the command of a health check has those of the app. */
export function healthVariables(value: unknown): Record<string, string> {
  const found = [...(testOf(value) ?? []).join(" ").matchAll(VARIABLE)];
  return Object.fromEntries(
    found.filter(([, dollar]) => dollar === undefined).map((
      [, , bare, name = bare, sign, text],
    ) => [
      name!,
      sign === "?"
        ? reference(name!)
        : reference(name!, sign === "-" && !text!.includes("$") ? text : ""),
    ]),
  );
}

function testOf(value: unknown): readonly string[] | undefined {
  if (!isMap(value) || value.disable === true || value.test === undefined) return undefined;
  const test = Array.isArray(value.test)
    ? value.test.map(String)
    : ["CMD-SHELL", String(value.test)];
  return test[0] === "NONE" ? undefined : test;
}

function commandOf([form, ...words]: readonly string[], inside: string): string {
  if (form !== "CMD-SHELL") return inside + words.map(quoted).join(" ");
  const line = words.join(" ");
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
