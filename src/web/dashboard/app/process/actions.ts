/** Actions on processes. They show their progress, and ask before they interrupt or delete. */

import { fewAtATime } from "../../../../platform/concurrency.ts";
import { ApiError, type Ask, askForAll, messageOf, processPath } from "../data/api.ts";
import { refreshSoon } from "../data/feed.ts";
import { announce, confirmed, type Toast, toast } from "../shell/notices.ts";
import type { IconName } from "../controls/controls.tsx";
import { go, place, screen } from "../data/router.ts";
import { processesOf, processList } from "../data/store.ts";
import { isUp, runningDependents } from "./select.ts";

export type Verb = "start" | "stop" | "restart" | "reload" | "roll" | "kill" | "flush" | "delete";

interface VerbWords {
  readonly title: string;
  /** Of its buttons; default: the title. */
  readonly text?: string;
  readonly icon: IconName;
  readonly doing: string;
  readonly done: string;
  /** Path below that of the process; default: the verb. */
  readonly path?: string;
  /** Default: a POST. */
  readonly ask?: Ask;
  /** Text of the confirmation, if one is needed. */
  readonly warning?: string;
  /** Label of the confirming button; default: the title. */
  readonly confirm?: string;
  /** True if it ends runs: the confirmation lists apps that depend on them. */
  readonly interrupts?: true;
  /** True if no confirmation is needed while none of the processes runs. */
  readonly harmlessWhenDown?: true;
}

const POST_WAIT = { method: "POST", query: { wait: true } } as const;

export const VERBS: Readonly<Record<Verb, VerbWords>> = {
  start: { title: "Start", icon: "start", doing: "Starting", done: "Started", ask: POST_WAIT },
  restart: {
    title: "Restart",
    icon: "restart",
    doing: "Restarting",
    done: "Restarted",
    ask: POST_WAIT,
    interrupts: true,
    harmlessWhenDown: true,
    warning: "The run is stopped, then started again. The app is down in between.",
  },
  reload: {
    title: "Reload",
    icon: "reload",
    doing: "Reloading",
    done: "Reloaded",
    ask: POST_WAIT,
    interrupts: true,
    harmlessWhenDown: true,
    warning: "By its reload signal or a second run that takes over. " +
      "An app configured for neither is restarted.",
  },
  roll: {
    title: "Roll over",
    text: "Roll",
    icon: "reload",
    doing: "Rolling over",
    done: "Rolled over",
    path: "rolling_reload",
    ask: { method: "POST", body: {} },
    interrupts: true,
    harmlessWhenDown: true,
    warning: "All instances are reloaded, one after the other. " +
      "If one fails to start, the rest stay unchanged.",
  },
  stop: {
    title: "Stop",
    icon: "stop",
    doing: "Stopping",
    done: "Stopped",
    interrupts: true,
    warning: "The stop signal is sent; what has not ended after the timeout is killed.",
  },
  kill: {
    title: "Kill",
    icon: "close",
    doing: "Killing",
    done: "Killed",
    path: "stop",
    ask: { method: "POST", query: { force: true } },
    interrupts: true,
    warning: "SIGKILL at once: nothing is finished or saved.",
  },
  flush: {
    title: "Empty the logs of",
    icon: "delete",
    doing: "Emptying the logs of",
    done: "Emptied the logs of",
    warning: "All lines written so far are deleted. This cannot be undone.",
    confirm: "Empty",
  },
  delete: {
    title: "Delete",
    icon: "delete",
    doing: "Deleting",
    done: "Deleted",
    path: "",
    ask: { method: "DELETE" },
    interrupts: true,
    warning: "It is stopped, and its configuration is deleted. This cannot be undone.",
  },
};

const AT_ONCE = 4;

/** Maximum wait for an answer: a browser has only six connections to a host for all its tabs. */
const PATIENCE_MS = 30_000;

/** Toasts of actions in progress. */
const pending = new Map<string, number>();

/** Performs an action on processes. Returns true if it succeeded for all. */
export async function act(verb: Verb, names: readonly string[]): Promise<boolean> {
  if (names.length === 0) return false;
  const words = VERBS[verb];
  const whom = names.length === 1 ? names[0]! : `${names.length} processes`;
  const deed = `${words.doing} ${names.join()}`;
  const before = pending.get(deed);
  if (before !== undefined) {
    toast("busy", `${words.doing} ${whom}…`, { id: before });
    return false;
  }
  if (!await isWanted(words, whom, names)) return false;
  const id = toast("busy", `${words.doing} ${whom}…`);
  pending.set(deed, id);
  const failures = await forAll(names, (name) => askFor(verb, name), (count) => {
    if (names.length > 1) toast("busy", `${words.doing} ${whom}… ${count}/${names.length}`, { id });
  });
  pending.delete(deed);
  refreshSoon();
  if (failures.length > 0) {
    announce(`${words.doing} ${whom} failed`);
    const more = names.length === 1 && verb !== "delete" ? wayTo(whom) : {};
    const detail = failures.join("\n");
    toast("failed", `${words.doing} ${whom} failed`, { id, detail, ...more });
    return false;
  }
  announce(`${words.done} ${whom}`);
  const undo = verb === "stop"
    ? { action: { label: "Start again", run: () => void act("start", names) } }
    : {};
  toast("done", `${words.done} ${whom}`, { id, ...undo });
  return true;
}

/** Asks for confirmation if the action interrupts something or cannot be undone. */
async function isWanted(
  { title, warning, confirm = title, interrupts, harmlessWhenDown }: VerbWords,
  whom: string,
  names: readonly string[],
): Promise<boolean> {
  const isHarmless = harmlessWhenDown && !names.flatMap(processesOf).some(isUp);
  if (warning === undefined || isHarmless) return true;
  const affected = names.length === 1 ? "" : ` Affects: ${listed(names)}.`;
  const dependents = interrupts ? runningDependents(names, processList.value) : [];
  const others = dependents.length === 0 ? "" : ` Others depend on it: ${listed(dependents)}.`;
  return await confirmed(`${title} ${whom}?`, warning + affected + others, confirm);
}

function listed(names: readonly string[]): string {
  return `${names.slice(0, 8).join(", ")}${names.length > 8 ? ", …" : ""}`;
}

function askFor(verb: Verb, name: string): Promise<unknown> {
  const { path = verb, ask: how = { method: "POST" } } = VERBS[verb];
  const to = processPath(name, path);
  return how === POST_WAIT ? askAndWait(to) : askForAll(to, how);
}

/** Posts, and waits until the start succeeds or fails. Throws `timeout` if that takes too long. */
export async function askAndWait<T>(path: string, body?: unknown): Promise<T> {
  const signal = AbortSignal.timeout(PATIENCE_MS);
  try {
    return await askForAll<T>(path, { ...POST_WAIT, body, signal });
  } catch (error) {
    if (!signal.aborted) throw error;
    const text = `Not up after ${PATIENCE_MS / 1000} s; the daemon keeps trying`;
    throw new ApiError(0, "timeout", text);
  }
}

/** A link to the page of a process, unless that is already open. */
function wayTo(name: string): Pick<Toast, "action"> {
  const isThere = screen.value === "process" && place.value.path[1] === name;
  return isThere ? {} : { action: { label: "Why", run: () => go(["processes", name]) } };
}

/** Runs a few at a time. Returns the errors. */
async function forAll(
  names: readonly string[],
  run: (name: string) => Promise<unknown>,
  progress: (done: number) => void,
): Promise<string[]> {
  let done = 0;
  const failures = await fewAtATime(AT_ONCE, names, async (name) => {
    const failure = await run(name).then(() => [], (error) => [messageOf(error)]);
    progress(++done);
    return names.length === 1 ? failure : failure.map((text) => `${name}: ${text}`);
  });
  return failures.flat();
}

/** Sends any other request and shows its progress. Returns the answer, undefined on failure. */
export async function run<T>(
  words: { doing: string; done: string },
  path: string,
  how: Ask,
): Promise<T | undefined> {
  const id = toast("busy", `${words.doing}…`);
  try {
    const answer = await askForAll<T>(path, how);
    toast("done", words.done, { id });
    announce(words.done);
    refreshSoon();
    return answer;
  } catch (error) {
    toast("failed", `${words.doing} failed`, { id, detail: messageOf(error) });
    announce(`${words.doing} failed`);
    return undefined;
  }
}
