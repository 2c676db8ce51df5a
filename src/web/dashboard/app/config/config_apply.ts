/** A configuration on its way: written or chosen, planned, applied. */

import { signal } from "@preact/signals";
import { ApiError, ask, messageOf } from "../data/api.ts";
import { refreshSoon } from "../data/feed.ts";
import { announce, toast } from "../shell/notices.ts";
import type { ConfigReloadResult } from "../data/types.ts";

/** What was put in. It outlives a look at another page. */
export const draft = {
  /** Whether the text counts, or a file of the machine. */
  isText: signal(true),
  text: signal(""),
  /** It tells the format. */
  name: signal("procsup.yaml"),
  /** What paths in the text are relative to. */
  folder: signal("/"),
  /** A file of the machine; empty for the one applied last. */
  path: signal(""),
  /** Whether what is no longer in the file is deleted. */
  prune: signal(false),
};

/** Where it stands. */
export const progress = signal<"idle" | "planning" | "applying">("idle");
/** What it would do; undefined before it was asked, and after something changed. */
export const plan = signal<ConfigReloadResult | undefined>(undefined);
/** What it did. */
export const outcome = signal<ConfigReloadResult | undefined>(undefined);
/** What is wrong with it, a mistake a line. */
export const problem = signal("");

/** What has been put in has changed: what was said of it holds no longer. */
export function touched(): void {
  plan.value = undefined;
  outcome.value = undefined;
  problem.value = "";
}

/** Asks what it would do. */
export async function makePlan(): Promise<void> {
  touched();
  progress.value = "planning";
  plan.value = await request(true);
  progress.value = "idle";
}

/** Does it, and waits until everything has come up. */
export async function applyPlan(): Promise<void> {
  progress.value = "applying";
  problem.value = "";
  const id = toast("busy", "Applying the configuration…");
  const done = await request(false);
  progress.value = "idle";
  refreshSoon();
  if (done?.status !== "reloaded") {
    toast("failed", "Not all of it could be applied", { id });
    announce("Applying failed");
  } else {
    toast("done", "The configuration is applied", { id });
    announce("The configuration is applied");
  }
  if (done === undefined) return;
  outcome.value = done;
  plan.value = undefined;
}

async function request(isDry: boolean): Promise<ConfigReloadResult | undefined> {
  try {
    return await ask<ConfigReloadResult>("/config/reload", { method: "POST", body: bodyOf(isDry) });
  } catch (error) {
    const taken = error instanceof ApiError && error.code === "name_taken";
    // Two sources that both want a process would undo each other's work.
    const advice = taken ? "\nChange that file and apply it from there, or use another name." : "";
    problem.value = messageOf(error) + advice;
    return undefined;
  }
}

function bodyOf(isDry: boolean): Record<string, unknown> {
  const { isText, text, name, folder, path, prune } = draft;
  const common = isDry ? { dry_run: true } : { wait: true };
  if (isText.value) {
    const file = `${folder.value.trim().replace(/\/*$/, "")}/${name.value.trim()}`;
    return { ...common, content: { file, text: text.value } };
  }
  const chosen = path.value.trim() === "" ? {} : { config_path: path.value.trim() };
  return { ...common, ...chosen, prune: prune.value };
}
