/** What stands where there is nothing to show. */

import type { ComponentChildren } from "preact";

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

/** While the first answer is on its way. */
export function Loading() {
  return (
    <div class="empty" role="status">
      <span class="spinner" aria-hidden="true" /> Loading…
    </div>
  );
}
