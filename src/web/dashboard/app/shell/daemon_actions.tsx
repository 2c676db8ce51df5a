/** Actions on all apps: save, restore, sign out. */

import { confirmed } from "./notices.ts";
import { mayAdminister, mayOperate } from "../data/store.ts";
import { Button } from "../controls/controls.tsx";
import { run } from "../process/actions.ts";

export function DaemonActions() {
  const resurrect = async () => {
    const yes = await confirmed(
      "Restore the saved apps?",
      "Saved processes that no longer exist are added and started.",
      "Restore",
      false,
    );
    if (!yes) return;
    await run(
      { doing: "Restoring the saved apps", done: "The saved apps are restored" },
      "/resurrect",
      { method: "POST" },
    );
  };
  const save = () =>
    run({ doing: "Saving the list", done: "The list is saved" }, "/save", { method: "POST" });
  return (
    <div class="row wrap head-actions">
      {mayOperate.value && <Button icon="save" onClick={save}>Save list</Button>}
      {mayAdminister.value && <Button icon="reload" onClick={resurrect}>Resurrect</Button>}
      <Button icon="leave" onClick={signOut}>Sign out</Button>
    </div>
  );
}

/** Ends the session; the page asks to sign in. */
export async function signOut(): Promise<void> {
  const words = { doing: "Signing out", done: "Signed out" };
  if (await run(words, "/session", { method: "DELETE" })) location.reload();
}
