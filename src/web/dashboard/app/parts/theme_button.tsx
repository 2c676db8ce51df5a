/** Light, dark, or as the system has it. */

import { nextTheme, theme } from "../data/theme.ts";
import { Button } from "./button.tsx";

/** Goes on to the next of them. */
export function ThemeButton() {
  const next = { auto: "light", light: "dark", dark: "as the system" }[theme.value];
  return (
    <Button
      icon={theme.value}
      kind="quiet"
      label={`Theme, next: ${next} (t)`}
      onClick={nextTheme}
    />
  );
}
