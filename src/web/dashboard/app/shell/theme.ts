/** Light or dark theme: that of the system until the user chooses. */

import { effect, signal } from "@preact/signals";

type Theme = "auto" | "light" | "dark";

const KEY = "procsup.theme";
const ORDER: readonly Theme[] = ["auto", "light", "dark"];

export const theme = signal<Theme>(stored());

effect(() => {
  const { dataset } = document.documentElement;
  if (theme.value === "auto") delete dataset.theme;
  else dataset.theme = theme.value;
  try {
    localStorage.setItem(KEY, theme.value);
  } catch {
    // Storage is disabled: the choice is lost with the page.
  }
});

function stored(): Theme {
  try {
    return ORDER.find((one) => one === localStorage.getItem(KEY)) ?? "auto";
  } catch {
    return "auto";
  }
}

export function nextTheme(): void {
  theme.value = ORDER[(ORDER.indexOf(theme.value) + 1) % ORDER.length]!;
}

const narrow = matchMedia("(max-width: 600px)");

/** True up to 600 px. */
export const isPhone = signal(narrow.matches);

narrow.addEventListener("change", () => isPhone.value = narrow.matches);
