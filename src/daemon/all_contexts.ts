/** The contexts of the daemon's user, for clients that are not on this machine, such as the dashboard. */

import { askContexts } from "../contexts/all_contexts.ts";
import { destinationText, type Engine } from "../contexts/contexts.ts";
import type { Copy } from "../export/backends/mod.ts";
import { messageOf, ProcsupError } from "../model/errors.ts";
import type { ContextJson } from "../protocol/wire.ts";

/** Clients that ask at the same time get one answer. */
let asked: Promise<ContextJson[]> | undefined;

/** This machine and all contexts. Throws `invalid_config` when their file cannot be read. */
export function readAllContexts(home: string): Promise<ContextJson[]> {
  return asked ??= ask(home).finally(() => asked = undefined);
}

async function ask(home: string): Promise<ContextJson[]> {
  const answers = await askContexts(() => home, copiesOn);
  return answers.map(({ context, destination, processes, copies, error }) => ({
    context,
    destination: destination === undefined ? "" : destinationText(destination),
    ...(error !== undefined && { error: messageOf(error) }),
    apps: [
      ...processes.map(({ name, state, ready, last_reason: reason }) => (
        { name, state, ready, reason }
      )),
      ...copies.map(({ name, state, ready, reason }) => ({ name, state, ready, reason })),
    ],
  }));
}

async function copiesOn(engine: Engine): Promise<Copy[]> {
  if (engine.stack === undefined) {
    throw new ProcsupError(
      "bad_request",
      "The context names no stack, and the daemon has no folder",
    );
  }
  const { openBackend } = await import("../export/backends/mod.ts");
  return await (await openBackend(engine, "/")).list();
}
