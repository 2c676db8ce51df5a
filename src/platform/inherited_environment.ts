/** The environment that child processes inherit. */

import { withoutNodeShim } from "./node_shim.ts";
import { isServiceVariable } from "./notify.ts";

/**
 * Without our own variables: inside an app, `PROCSUP_RUN_ID` would make the child part of that app.
 * Without those of a service manager, which are meant for this process alone.
 */
export function inheritedEnvironment(): Record<string, string> {
  return only((name) => !name.startsWith("PROCSUP_"));
}

/** The same for a shell, without the variables that it manages itself and those it cannot set. */
export function shellEnvironment(): Record<string, string> {
  return only((name) => /^(?!PROCSUP_)(?!(_|SHLVL|PWD|OLDPWD)$)[A-Za-z_]\w*$/.test(name));
}

function only(kept: (name: string) => boolean): Record<string, string> {
  const entries = Object.entries(withoutNodeShim(Deno.env.toObject()));
  return Object.fromEntries(entries.filter(([name]) => kept(name) && !isServiceVariable(name)));
}
