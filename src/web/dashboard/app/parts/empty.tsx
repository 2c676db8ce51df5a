/** What stands where there is nothing to show. */

import type { ComponentChildren } from "preact";
import { mayAdminister } from "../data/store.ts";

/** A few words, and what to do. */
export function Empty(
  { title, action, children }: {
    readonly title: string;
    readonly action?: { readonly text: string; readonly href: string };
    readonly children?: ComponentChildren;
  },
) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children && <p>{children}</p>}
      {action && <a class="button primary" href={action.href}>{action.text}</a>}
    </div>
  );
}

/** Where no process is known at all. */
export function NothingYet() {
  const action = { text: "Start something", href: "#/start" };
  const may = mayAdminister.value;
  return (
    <Empty title="Nothing is running yet" {...(may ? { action } : {})}>
      {may ? "Or on" : "On"} the command line: <code>procsup start server.ts</code>
    </Empty>
  );
}

/** While the first answer is on its way. */
export function Loading() {
  return (
    <div class="empty" role="status">
      <span class="spinner" aria-hidden="true" /> Loading…
    </div>
  );
}
