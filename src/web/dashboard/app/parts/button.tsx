/** Buttons. */

import type { ComponentChildren } from "preact";
import { Icon, type IconName } from "./icon.tsx";

/** How a button looks and what it does. */
export interface ButtonProps {
  readonly id?: string;
  readonly icon?: IconName;
  /** Its name when it has no text; also shown on hover. */
  readonly label?: string;
  readonly kind?: "plain" | "primary" | "danger" | "quiet";
  readonly disabled?: boolean;
  readonly pressed?: boolean;
  readonly submits?: boolean;
  readonly onClick?: (event: MouseEvent) => void;
  readonly children?: ComponentChildren;
}

/** A button with an icon, a text, or both. */
export function Button(
  { id, icon, label, kind = "plain", disabled, pressed, submits, onClick, children }: ButtonProps,
) {
  return (
    <button
      id={id}
      type={submits ? "submit" : "button"}
      class={`button ${kind}${children === undefined ? " only-icon" : ""}`}
      disabled={disabled}
      aria-label={label}
      aria-pressed={pressed}
      title={label}
      onClick={onClick}
    >
      {icon && <Icon name={icon} />}
      {children !== undefined && <span>{children}</span>}
    </button>
  );
}
