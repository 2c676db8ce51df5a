/** State of the page that applies a configuration. */

import { signal } from "@preact/signals";
import { ApiError, ask, messageOf } from "../data/api.ts";
import { refreshSoon } from "../data/feed.ts";
import { announce, toast } from "../shell/notices.ts";
import type { ConfigReloadResult } from "../data/types.ts";

/** The input. It is kept while other pages are open. */
export const draft = {
  /** Whether the text is applied, or a file on the machine. */
  isText: signal(true),
  text: signal(""),
  /** It sets the format. */
  name: signal("procsup.yaml"),
  /** Relative paths in the text start there. */
  folder: signal("/"),
  /** A file on the machine; empty for the last applied one. */
  path: signal(""),
  /** Whether apps that were removed from the file are deleted. */
  prune: signal(false),
};

/** The request that is running. */
export const progress = signal<"idle" | "planning" | "applying">("idle");
/** The planned changes; undefined until planned, and after the input changed. */
export const plan = signal<ConfigReloadResult | undefined>(undefined);
/** The changes that were made. */
export const outcome = signal<ConfigReloadResult | undefined>(undefined);
/** Mistakes, one per line. */
export const problem = signal("");

/** The input has changed: discards the plan and results. */
export function touched(): void {
  plan.value = undefined;
  outcome.value = undefined;
  problem.value = "";
}

/** Makes the plan. */
export async function makePlan(): Promise<void> {
  touched();
  progress.value = "planning";
  plan.value = await request(true);
  progress.value = "idle";
}

/** Applies the configuration, and waits until everything is up. */
export async function applyPlan(): Promise<void> {
  progress.value = "applying";
  problem.value = "";
  const id = toast("busy", "Applying the configuration…");
  const done = await request(false);
  progress.value = "idle";
  refreshSoon();
  if (done?.status !== "reloaded") {
    toast("failed", "Some changes could not be applied", { id });
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
    // Two sources of one process would undo each other's changes.
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
