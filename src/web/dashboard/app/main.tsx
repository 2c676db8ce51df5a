/** The dashboard: shows the current screen, and handles the global keys. */

import { render } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { startFeed } from "./data/feed.ts";
import { listenForKeys, useKeys } from "./shell/keys.ts";
import { go, place } from "./data/router.ts";
import { SignIn, signInByLink } from "./shell/sign_in.tsx";
import { connection, mayAdminister, stateCounts } from "./data/store.ts";
import type { Condition } from "../../../model/process_info.ts";
import { nextTheme } from "./shell/settings.ts";
import { helpOpen, Shell } from "./shell/shell.tsx";
import { paletteOpen, Screen, shortcuts } from "./shell/screens.tsx";

function App() {
  useKeys({
    ...Object.fromEntries(
      shortcuts().map(({ key, path, query }) => [`g ${key}`, () => go(path, query)]),
    ),
    "/": () => go(["processes"]),
    n: () => mayAdminister.value && go(["start"]),
    t: nextTheme,
    "?": () => helpOpen.value = true,
    "mod k": () => paletteOpen.value = true,
  });
  useTitle();
  if (connection.value === "signed_out") return <SignIn />;
  return (
    <Shell>
      <Screen />
    </Shell>
  );
}

/** Sets the window's title. Scrolls a new screen to its top and moves the focus there. */
function useTitle(): void {
  const [first = "timeline", name] = place.value.path;
  const where = name ?? first[0]!.toUpperCase() + first.slice(1);
  const isKnown = useRef(false);
  const count = (state: Condition) => stateCounts.value.get(state) ?? 0;
  const failed = count("errored") + count("crashed") + count("unhealthy");
  useEffect(() => {
    document.title = `${failed > 0 ? `(${failed}) ` : ""}${where} · procsup`;
  }, [where, failed]);
  // Not `useEffect`, which runs after the paint: it would take the focus from a field that a key chose.
  useLayoutEffect(() => {
    if (isKnown.current) {
      document.getElementById("main")?.focus({ preventScroll: true });
      scrollTo(0, 0);
    }
    isKnown.current = true;
  }, [first, name]);
}

listenForKeys();
void signInByLink().then(startFeed);
render(<App />, document.getElementById("app")!);
