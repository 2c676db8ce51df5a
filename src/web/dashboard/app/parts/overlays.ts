/** Which of the windows that any screen can open are open. */

import { signal } from "@preact/signals";

/** The list of keys. */
export const helpOpen = signal(false);
/** The field that leads anywhere. */
export const paletteOpen = signal(false);
