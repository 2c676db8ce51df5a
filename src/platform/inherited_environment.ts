/** The environment that others inherit from this process. */

import { withoutNodeShim } from "./node_shim.ts";
import { isServiceVariable } from "./notify.ts";

/**
 * Without our own variables: called from inside an app, `PROCSUP_RUN_ID` would make its child that app's
 * part. And without those of a service manager, which are meant for this process alone.
 */
export function inheritedEnvironment(): Record<string, string> {
  return only((name) => !name.startsWith("PROCSUP_"));
}

/** The same of a shell, without what it counts and remembers for itself, and what nothing can set. */
export function shellEnvironment(): Record<string, string> {
  return only((name) => /^(?!PROCSUP_)(?!(_|SHLVL|PWD|OLDPWD)$)[A-Za-z_]\w*$/.test(name));
}

function only(kept: (name: string) => boolean): Record<string, string> {
  const entries = Object.entries(withoutNodeShim(Deno.env.toObject()));
  return Object.fromEntries(entries.filter(([name]) => kept(name) && !isServiceVariable(name)));
}
