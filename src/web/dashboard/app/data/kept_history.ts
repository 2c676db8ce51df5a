/** Figures outlive a reload of the page: in the tab's own storage, for the page that comes at once. */

import { type History, history, restore, type Sample } from "./history.ts";

const KEY = "procsup.history";
/** A page that comes later would join what is far apart. */
const GOOD_FOR_MS = 60_000;
/** Browsers keep some five million; what does not fit begins anew. */
const MOST_CHARACTERS = 2_000_000;

type Reading = readonly [number, number, number, number, number, number];

/** What is written. */
interface Kept {
  readonly at: number;
  readonly since: number;
  /** By key; times are those since `since`. */
  readonly rings: readonly (readonly [string, readonly (readonly Reading[])[]])[];
}

/** Takes up what the page before left, and leaves it to the next one. */
export function keepHistory(): void {
  try {
    const known = unpack(sessionStorage.getItem(KEY) ?? "", Date.now());
    if (known !== undefined) restore(known);
  } catch {
    // It is not ours, or there is no storage: then it begins anew.
  }
  addEventListener("pagehide", () => {
    try {
      sessionStorage.setItem(KEY, pack(history(), Date.now()));
    } catch {
      // As above.
    }
  });
}

/** The history as text; the first of it when there is more than has room. */
export function pack({ since, rings }: History, at: number, most = MOST_CHARACTERS): string {
  const kept: string[] = [];
  let room = most;
  for (const [key, list] of rings) {
    const text = JSON.stringify([key, list.map((ring) => ring.map((one) => reading(one, since)))]);
    room -= text.length;
    if (room < 0) break;
    kept.push(text);
  }
  return `{"at":${at},"since":${since},"rings":[${kept}]}`;
}

/** The history in a text; undefined when it is too old. Throws for a text that is none. */
export function unpack(text: string, now: number): History | undefined {
  const { at, since, rings } = JSON.parse(text) as Kept;
  if (!(now - at < GOOD_FOR_MS)) return undefined;
  return {
    since,
    rings: rings.map(([key, list]) => [key, list.map((ring) => ring.map((r) => sample(r, since)))]),
  };
}

function reading({ at, cpu, memory, fds, threads, load }: Sample, since: number): Reading {
  return [at - since, Math.round(cpu * 10) / 10, memory, fds, threads, load];
}

function sample([at, cpu, memory, fds, threads, load]: Reading, since: number): Sample {
  return { at: at + since, cpu, memory, fds, threads, load };
}
