/** Whether the page is on a phone. */

import { signal } from "@preact/signals";

const narrow = matchMedia("(max-width: 600px)");

/** True up to 600 px. */
export const isPhone = signal(narrow.matches);

narrow.addEventListener("change", () => isPhone.value = narrow.matches);
