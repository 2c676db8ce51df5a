/** What is being done, and how it went. */

import { dismiss, type Toast, toasts } from "../data/notices.ts";
import { Button } from "./button.tsx";
import { Icon } from "./icon.tsx";

/** All toasts. */
export function Toasts() {
  return (
    <div class="toasts" role="region" aria-label="Notifications">
      {toasts.value.map((one) => <ToastBox key={one.id} toast={one} />)}
    </div>
  );
}

function ToastBox({ toast }: { toast: Toast }) {
  const { id, kind, text, detail, action } = toast;
  return (
    <div class={`toast is-${kind}`} role={kind === "failed" ? "alert" : undefined}>
      {kind === "busy" ? <span class="spinner" aria-hidden="true" /> : <Icon name={kind} />}
      <div class="toast-text">
        <strong>{text}</strong>
        {detail && <p>{detail}</p>}
      </div>
      {action && (
        <Button kind="quiet" onClick={() => (dismiss(id), action.run())}>{action.label}</Button>
      )}
      <Button icon="close" kind="quiet" label="Dismiss" onClick={() => dismiss(id)} />
    </div>
  );
}
