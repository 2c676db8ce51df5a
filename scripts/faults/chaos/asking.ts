/** Sends requests to a daemon under chaos, and tells expected refusals from violations. */

import { ProcsupError } from "../../../src/model/errors.ts";
import { pathsIn } from "../../../src/platform/files/paths.ts";
import type { Wire } from "./apps.ts";
import type { House } from "./house.ts";
import type { Ledger } from "./ledger.ts";
import type { Random } from "./random.ts";

/** Errors that concurrent or unlucky requests may get. */
const FAIR = new Set([
  ...["wrong_state", "process_not_found", "name_taken", "start_failed", "closed", "timeout"],
  ...["daemon_unreachable", "daemon_hangs", "invalid_config", "address_in_use", "bad_request"],
  ...["rate_limited", "home_unusable"],
]);

/** What a random operation works on. */
export interface Scene {
  readonly random: Random;
  readonly house: House;
  readonly ledger: Ledger;
  readonly folder: string;
  readonly apps: readonly Wire[];
  readonly webUrl: string;
  readonly say: (line: string) => void;
  readonly violate: (what: string) => void;
}

/** Whether the daemon reported success for every process. */
export async function asked(
  scene: Scene,
  what: string,
  ask: () => Promise<unknown>,
): Promise<boolean> {
  scene.say(`> ${what}`);
  try {
    const answer = await ask() as {
      results?: readonly { ok: boolean; code?: string; error?: string }[];
    };
    const bad = answer?.results?.filter(({ ok }) => !ok) ?? [];
    for (const { code = "", error } of bad) {
      if (!FAIR.has(code)) scene.violate(`${what} answered ${code}: ${error}`);
    }
    scene.say(`< ${what} ${bad.length === 0 ? "ok" : bad.map(({ error }) => error).join("; ")}`);
    return bad.length === 0;
  } catch (error) {
    const code = error instanceof ProcsupError ? error.code : "";
    const message = error instanceof Error ? error.message : String(error);
    scene.say(`< ${what} failed: ${message}`);
    const lost = /fetch failed|connection|reset|broken pipe|EOF|closed|unexpected end/i.test(
      message,
    );
    if (!FAIR.has(code) && !lost) scene.violate(`${what} failed by ${code}: ${message}`);
    return false;
  }
}

/** Sends a request over REST. */
export async function rest(
  scene: Scene,
  method: string,
  path: string,
  body?: unknown,
): Promise<unknown> {
  // The daemon replaces a damaged token.
  const token = Deno.readTextFileSync(pathsIn(scene.house.home).token).trim();
  const response = await fetch(`${scene.webUrl}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(30_000),
  });
  const answer = await response.json();
  if (!response.ok) throw new ProcsupError(answer.code ?? "internal", String(answer.error));
  return answer;
}

/** Runs a command of the program. */
export async function command(scene: Scene, ...args: string[]): Promise<unknown> {
  const { code, stderr } = await scene.house.cli(...args);
  if (code === 0) return undefined;
  const kinds = {
    2: "bad_request",
    3: "wrong_state",
    4: "process_not_found",
    5: "daemon_unreachable",
    6: "wrong_state",
    124: "timeout",
  };
  const kind = kinds[code as keyof typeof kinds] ?? "start_failed";
  if (/internal/i.test(stderr)) scene.violate(`${args.join(" ")}: ${stderr}`);
  throw new ProcsupError(kind as "bad_request", stderr.trim());
}

/** Calls a verb over the socket, over REST or by a command, at random. */
export function way(scene: Scene, verb: "start" | "stop" | "restart" | "reload", name: string) {
  const wait = scene.random.chance(0.3);
  const dice = scene.random.next();
  if (dice < 0.08) return () => command(scene, verb, name);
  if (dice < 0.4) return () => rest(scene, "POST", `/processes/${name}/${verb}`);
  const payload = verb === "stop" ? { target: name } : { target: name, wait };
  return () => scene.house.client.call(verb, payload as never);
}
