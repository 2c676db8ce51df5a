/** The target of a command: `--on`, `--host`, `PROCSUP_HOST`, or the context in use. */

import { type Contexts, type Engine, readContexts, THIS_MACHINE } from "../contexts/contexts.ts";
import type { Host, MachineAddress } from "../contexts/ssh.ts";
import type { Flags } from "./flags.ts";

/** The target of a command: this machine if both are undefined. */
export interface Target {
  readonly host?: Host;
  readonly engine?: Engine;
}

/** The machine or engine that flags, environment and contexts name. */
export async function targetIn(flags: Flags): Promise<Target> {
  const on = flags.text("on");
  if (on !== undefined) return on === THIS_MACHINE ? {} : { engine: engineIn(flags, { on }) };
  const given = flags.text("host") ?? (Deno.env.get("PROCSUP_HOST") || undefined);
  if (given === THIS_MACHINE) return {};
  if (given === undefined && isHomeNamed(flags)) return {};
  const { use, contexts } = readContexts();
  const name = given ?? use;
  return name === undefined ? {} : await targetNamed(name, flags, contexts);
}

/** The context of a name; without one, the machine that ssh knows by it. */
export async function targetNamed(
  name: string,
  flags: Flags,
  contexts: Contexts["contexts"],
): Promise<Target> {
  const known = Object.hasOwn(contexts, name) ? contexts[name]! : { destination: name };
  if ("on" in known) return { engine: engineIn(flags, known) };
  const { Host } = await import("../contexts/ssh.ts");
  return { host: new Host({ name, ...machineIn(flags, known) }) };
}

/** An engine with the settings that flags override. */
export function engineIn(flags: Flags, engine: Engine): Engine {
  return {
    ...engine,
    context: flags.text("context") || engine.context,
    namespace: flags.text("cluster-namespace") || engine.namespace,
    stack: flags.text("stack") || engine.stack,
  };
}

/** A machine with the settings that flags override. */
export function machineIn(flags: Flags, machine: MachineAddress): MachineAddress {
  return {
    ...machine,
    home: flags.text("home") || machine.home,
    program: flags.text("remote-procsup") || machine.program,
  };
}

/** A home set by flag or environment is on this machine, as is the daemon of an app or a hook. */
function isHomeNamed(flags: Flags): boolean {
  return flags.text("home") !== undefined ||
    ["PROCSUP_HOME", "PROCSUP_ID"].some((name) => Deno.env.get(name));
}
