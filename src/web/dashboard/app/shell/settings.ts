/** What a user has chosen for this browser, and whether it is a phone. */

import { effect, type Signal, signal } from "@preact/signals";

/** A choice that the browser keeps. If its storage is disabled, the choice is lost with the page. */
function kept<T extends string | boolean>(
  name: string,
  choices: readonly T[],
  usual: T,
): Signal<T> {
  return keptAs(name, usual, (known) => choices.find((one) => String(one) === known));
}

/** Several choices that the browser keeps. */
export function keptList<T extends string>(
  name: string,
  choices: readonly T[],
  usual: readonly T[],
): Signal<readonly T[]> {
  return keptAs(name, usual, (known) => {
    const words = new Set<string>(known.split(","));
    return choices.filter((one) => words.has(one));
  });
}

function keptAs<T extends string | boolean | readonly string[]>(
  name: string,
  usual: T,
  read: (known: string) => T | undefined,
): Signal<T> {
  const key = `procsup.${name}`;
  const chosen = signal(usual);
  try {
    const known = localStorage.getItem(key);
    if (known !== null) chosen.value = read(known) ?? usual;
    effect(() => localStorage.setItem(key, String(chosen.value)));
  } catch {
    // Storage is disabled.
  }
  return chosen;
}

/** The choice after the current one; the first after the last. */
function next<T>({ value }: Signal<T>, choices: readonly T[]): T {
  return choices[(choices.indexOf(value) + 1) % choices.length]!;
}

const narrow = matchMedia("(max-width: 700px)");

/** True up to 700 px. */
export const isPhone = signal(narrow.matches);

narrow.addEventListener("change", () => isPhone.value = narrow.matches);

const THEMES = ["auto", "light", "dark"] as const;

/** Light or dark theme: `auto` is that of the system. */
export const theme = kept<(typeof THEMES)[number]>("theme", THEMES, "auto");

export function nextTheme(): void {
  theme.value = next(theme, THEMES);
}

/** True to wrap long lines of logs. */
export const wrap = kept("wrap", [true, false], isPhone.value);
/** True to show raw lines of logs. */
export const isRaw = kept("raw", [true, false], false);

/** Displays of the times of lines. */
export const TIMES = [
  ["exact", "Exact times"],
  ["ago", "How long ago"],
  ["none", "No times"],
] as const;

export const timeLook = kept<(typeof TIMES)[number][0]>(
  "times",
  TIMES.map(([look]) => look),
  isPhone.value ? "none" : "exact",
);

const SIZES = ["small", "medium", "large"] as const;

/** Size of the lines of logs. */
export const logSize = kept<(typeof SIZES)[number]>("size", SIZES, "medium");

export function nextSize(): void {
  logSize.value = next(logSize, SIZES);
}

effect(() => {
  const { dataset } = document.documentElement;
  dataset.logSize = logSize.value;
  if (theme.value === "auto") delete dataset.theme;
  else dataset.theme = theme.value;
});
