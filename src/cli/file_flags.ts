/** Refuses flags that do not fit what `start` and `run` start: a configuration file, or one app. */

import { ProcsupError } from "../model/errors.ts";
import type { CommandContext } from "./command.ts";

/** Flags of `start` and `run` that select a part of a file. */
const SELECTION = ["only", "profile", "single", "now"];

/** Flags of them that fit a file; all others configure one app. */
const FITTING = new Set([
  ...SELECTION,
  ...["env", "no-wait", "detach", "critical", "no-prefix", "ready-file"],
]);

/** Throws `bad_request` for flags that configure one app. `--env` may name a profile. */
export function refuseAppFlags({ flags, command }: CommandContext): void {
  const own = new Set(command.flags.map(({ name }) => name));
  const given = flags.names().find((name) =>
    (own.has(name) && !FITTING.has(name)) ||
    (name === "env" && flags.list("env").some((word) => word.includes("=")))
  );
  if (given === undefined) return;
  throw new ProcsupError("bad_request", `Cannot use --${given} with a configuration file`, {
    hint: "Write it into the file",
  });
}

/** Throws `bad_request` for flags that select a part of a file. */
export function refuseFileFlags({ flags, command }: CommandContext): void {
  const given = flags.names().find((name) => SELECTION.includes(name));
  if (given === undefined) return;
  throw new ProcsupError("bad_request", `Cannot use --${given} without a configuration file`, {
    hint: `procsup help ${command.name}`,
  });
}
