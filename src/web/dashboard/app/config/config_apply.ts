/** State of the page that applies a configuration. */

import { signal } from "@preact/signals";
import { ApiError, ask, messageOf } from "../data/api.ts";
import { refreshSoon } from "../data/feed.ts";
import { announce, toast } from "../shell/notices.ts";
import type { ConfigReloadResult } from "../data/types.ts";

/** The input. It is kept while other pages are open. */
export const draft = {
  /** True to apply the text, false to apply a file on the machine. */
  isText: signal(true),
  text: signal(""),
  /** Name of the text as a file. Its extension sets the format. */
  name: signal("procsup.yaml"),
  /** Base of relative paths in the text. */
  folder: signal("/"),
  /** A file on the machine; empty for the last applied one. */
  path: signal(""),
  /** True to delete apps that were removed from the file. */
  prune: signal(false),
};

export const progress = signal<"idle" | "planning" | "applying">("idle");
/** The planned changes; undefined until planned, and after the input changed. */
export const plan = signal<ConfigReloadResult | undefined>(undefined);
/** The changes that were made. */
export const outcome = signal<ConfigReloadResult | undefined>(undefined);
/** Errors, one per line. */
export const problem = signal("");

/** Discards the plan and the results. Call it after a change of the input. */
export function touched(): void {
  plan.value = undefined;
  outcome.value = undefined;
  problem.value = "";
}

export async function makePlan(): Promise<void> {
  touched();
  progress.value = "planning";
  plan.value = await request(true);
  progress.value = "idle";
}

/** Applies the configuration and waits until everything has started. */
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
    // Two files that define the same process would undo each other's changes.
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
