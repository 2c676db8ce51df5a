/** Actions on processes. They show their progress, and ask before they interrupt or delete. */

import type { Output, Payload, ProcessResult, VerbName } from "../../../../protocol/wire.ts";
import { ApiError, call, callForAll, messageOf } from "../data/api.ts";
import { announce, confirmed, type Toast, toast } from "../shell/notices.ts";
import type { IconName } from "../controls/icons.tsx";
import { go, place, screen } from "../data/router.ts";
import { processesOf, processList } from "../data/store.ts";
import { counted } from "../data/format.ts";
import { isUp, runningDependents, stoppedAmong } from "./select.ts";

export type Verb = "start" | "stop" | "restart" | "reload" | "roll" | "kill" | "flush" | "delete";

/** The verbs of the daemon that take several targets. */
type ForMany = Exclude<Verb, "roll" | "kill">;

interface VerbWords {
  readonly title: string;
  /** Of its buttons; default: the title. */
  readonly text?: string;
  readonly icon: IconName;
  readonly doing: string;
  readonly done: string;
  /** The daemon's verb, and its input besides the targets. */
  readonly verb: ForMany | "rolling_reload";
  readonly input?: { readonly wait?: true; readonly force?: true };
  /** Text of the confirmation, if one is needed. */
  readonly warning?: string;
  /** Label of the confirming button; default: the title. */
  readonly confirm?: string;
  /** True if it ends runs: the confirmation lists apps that depend on them. */
  readonly interrupts?: true;
  /** True if no confirmation is needed while none of the processes runs. */
  readonly harmlessWhenDown?: true;
  /** True if it starts what is stopped, which several apps at once need not mean. */
  readonly starts?: true;
}

const WAIT = { wait: true } as const;

export const VERBS: Readonly<Record<Verb, VerbWords>> = {
  start: {
    title: "Start",
    verb: "start",
    icon: "start",
    doing: "Starting",
    done: "Started",
    input: WAIT,
  },
  restart: {
    title: "Restart",
    verb: "restart",
    icon: "restart",
    doing: "Restarting",
    done: "Restarted",
    input: WAIT,
    interrupts: true,
    harmlessWhenDown: true,
    starts: true,
    warning: "The run is stopped, then started again. The app is down in between.",
  },
  reload: {
    title: "Reload",
    verb: "reload",
    icon: "reload",
    doing: "Reloading",
    done: "Reloaded",
    input: WAIT,
    interrupts: true,
    harmlessWhenDown: true,
    starts: true,
    warning: "By its reload signal or a second run that takes over. " +
      "An app configured for neither is restarted.",
  },
  roll: {
    title: "Roll over",
    text: "Roll",
    icon: "reload",
    doing: "Rolling over",
    done: "Rolled over",
    verb: "rolling_reload",
    interrupts: true,
    harmlessWhenDown: true,
    warning: "All instances are reloaded, one after the other. " +
      "If one fails to start, the rest stay unchanged.",
  },
  stop: {
    title: "Stop",
    verb: "stop",
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
    verb: "stop",
    input: { force: true },
    interrupts: true,
    warning: "SIGKILL at once: nothing is finished or saved.",
  },
  flush: {
    title: "Empty the logs of",
    verb: "flush",
    icon: "delete",
    doing: "Emptying the logs of",
    done: "Emptied the logs of",
    warning: "All lines written so far are deleted. This cannot be undone.",
    confirm: "Empty",
  },
  delete: {
    title: "Delete",
    verb: "delete",
    icon: "delete",
    doing: "Deleting",
    done: "Deleted",
    interrupts: true,
    warning: "It is stopped, and its configuration is deleted. This cannot be undone.",
  },
};

/** Maximum wait for an answer: a browser has only six connections to a host for all its tabs. */
const PATIENCE_MS = 30_000;

/** Toasts of actions in progress. */
const pending = new Map<string, number>();

/** Performs an action on processes, as one request. Returns true if it succeeded for all. */
export async function act(verb: Verb, names: readonly string[]): Promise<boolean> {
  if (names.length === 0) return false;
  const words = VERBS[verb];
  const deed = `${words.doing} ${names.join()}`;
  const before = pending.get(deed);
  if (before !== undefined) {
    toast("busy", `${words.doing} ${whomOf(names)}…`, { id: before });
    return false;
  }
  const wanted = await wantedOf(words, names);
  if (wanted.length === 0) return false;
  const whom = whomOf(wanted);
  const id = toast("busy", `${words.doing} ${whom}…`);
  pending.set(deed, id);
  const failures = await failuresOf(words.verb, wanted, words.input);
  pending.delete(deed);
  if (failures.length > 0) {
    announce(`${words.doing} ${whom} failed`);
    const more = wanted.length === 1 && verb !== "delete" ? wayTo(whom) : {};
    const detail = failures.join("\n");
    toast("failed", `${words.doing} ${whom} failed`, { id, detail, ...more });
    return false;
  }
  announce(`${words.done} ${whom}`);
  const undo = verb === "stop"
    ? { action: { label: "Start again", run: () => void act("start", wanted) } }
    : {};
  toast("done", `${words.done} ${whom}`, { id, ...undo });
  return true;
}

function whomOf(names: readonly string[]): string {
  return names.length === 1 ? names[0]! : `${names.length} processes`;
}

/**
 * The processes to act on, none if the user declines. Asks if the action interrupts something, cannot
 * be undone, or would start apps that were stopped on purpose.
 */
async function wantedOf(
  { title, warning, confirm = title, interrupts, harmlessWhenDown, starts }: VerbWords,
  names: readonly string[],
): Promise<readonly string[]> {
  const members = names.flatMap(processesOf);
  const isHarmless = harmlessWhenDown && !members.some(isUp);
  if (warning === undefined || isHarmless) return names;
  const affected = names.length === 1 ? "" : ` Affects: ${listed(names)}.`;
  const dependents = interrupts ? runningDependents(names, processList.value) : [];
  const others = dependents.length === 0 ? "" : ` Others depend on it: ${listed(dependents)}.`;
  const { stopped, rest } = stoppedAmong(starts ? members : []);
  const option = stopped.length === 0 ? undefined : {
    label: `${counted(stopped.length, "stopped app")} (${listed(stopped)}): leave ${
      stopped.length === 1 ? "it" : "them"
    } stopped`,
    isChosen: true,
  };
  const text = warning + affected + others;
  const answer = await confirmed(`${title} ${whomOf(names)}?`, text, confirm, { option });
  return answer === undefined ? [] : answer.isChosen ? rest : names;
}

function listed(names: readonly string[]): string {
  return `${names.slice(0, 8).join(", ")}${names.length > 8 ? ", …" : ""}`;
}

/** Sends the request. Returns what failed, with the names if there are several. */
async function failuresOf(
  verb: VerbWords["verb"],
  names: readonly string[],
  input: VerbWords["input"] = {},
): Promise<readonly string[]> {
  try {
    const { results } = verb === "rolling_reload"
      ? await rolled(names)
      : await patiently((signal) => call(verb, { ...input, target: names }, input.wait && signal));
    return results.filter(({ ok }) => !ok).map(({ name, error = "" }) =>
      names.length === 1 && results.length === 1 ? error : `${name}: ${error}`
    );
  } catch (error) {
    return [messageOf(error)];
  }
}

type Result = Pick<ProcessResult, "name" | "ok" | "error">;

/** A rolling reload takes one app: one request for each, even after one is refused. */
async function rolled(names: readonly string[]): Promise<{ readonly results: readonly Result[] }> {
  const results: Result[] = [];
  for (const name of names) {
    try {
      results.push(...(await call("rolling_reload", { target: name })).results);
    } catch (error) {
      results.push({ name, ok: false, error: messageOf(error) });
    }
  }
  return { results };
}

/** Adds a process, and waits until its start succeeds or fails. Throws `timeout` if that takes too long. */
export async function addAndWait(config: string): Promise<Output<"add">> {
  return await patiently((signal) => callForAll("add", { config, wait: true }, signal));
}

async function patiently<T>(act: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const signal = AbortSignal.timeout(PATIENCE_MS);
  try {
    return await act(signal);
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

interface Words {
  readonly doing: string;
  readonly done: string;
}

/** Carries out any other verb and shows its progress. Returns the answer, undefined on failure. */
export async function run<N extends VerbName>(
  words: Words,
  verb: N,
  payload: Payload<N>,
): Promise<Output<N> | undefined> {
  return await withProgress(words, () => callForAll(verb, payload));
}

/** Shows the progress of `act`. Returns its result, undefined on failure. */
export async function withProgress<T>(words: Words, act: () => Promise<T>): Promise<T | undefined> {
  const id = toast("busy", `${words.doing}…`);
  try {
    const answer = await act();
    toast("done", words.done, { id });
    announce(words.done);
    return answer;
  } catch (error) {
    toast("failed", `${words.doing} failed`, { id, detail: messageOf(error) });
    announce(`${words.doing} failed`);
    return undefined;
  }
}

/** Opens the form that changes an app. */
export function goToChange(name: string): void {
  go(["processes", name], "tab=config&change=1");
}
