/** The dashboard: selects the screen, and handles the global keys. */

import { type FunctionComponent, render } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { startFeed } from "./data/feed.ts";
import { listenForKeys, useKeys } from "./shell/keys.ts";
import { go, place, screen } from "./data/router.ts";
import { SignIn, signInByLink } from "./shell/sign_in.tsx";
import { connection, mayAdminister, processes, stateCounts } from "./data/store.ts";
import type { State } from "./data/types.ts";
import { nextTheme } from "./shell/theme.ts";
import { Apply } from "./config/apply.tsx";
import { Cron } from "./cron/cron.tsx";
import { Events } from "./events/events.tsx";
import { Graph } from "./graph/graph.tsx";
import { Host } from "./host/host.tsx";
import { Logs } from "./logs/log_view.tsx";
import { Machines } from "./machines/machines.tsx";
import { Overview } from "./process/overview.tsx";
import { Process } from "./process/process_page.tsx";
import { Processes } from "./process/process_list.tsx";
import { Start } from "./process/start.tsx";
import { Webhooks } from "./webhooks/webhooks.tsx";
import { Empty, Loading } from "./controls/controls.tsx";
import { helpOpen, Shell } from "./shell/shell.tsx";
import { openScreens, pathOf } from "./shell/screens.ts";
import { paletteOpen } from "./shell/palette.tsx";

function App() {
  useKeys({
    ...Object.fromEntries(
      openScreens().map((entry) => [`g ${entry.key}`, () => go(pathOf(entry))]),
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

const PAGES: Readonly<Record<string, FunctionComponent>> = {
  overview: Overview,
  processes: Processes,
  logs: Logs,
  graph: Graph,
  cron: Cron,
  events: Events,
  webhooks: Webhooks,
  apply: Apply,
  host: Host,
  machines: Machines,
  start: Start,
};

/** The screens for admins, by what they do. */
const GUARDED: ReadonlyMap<string, string> = new Map([
  ["apply", "Applying a configuration"],
  ["machines", "Looking at other machines"],
  ["start", "Starting a new process"],
]);

function Screen() {
  // Neither the role nor any process is known before the first answer.
  if (processes.value === null) return <Loading />;
  const guarded = GUARDED.get(screen.value);
  if (guarded !== undefined && !mayAdminister.value) {
    return <Empty title="Not allowed">{guarded} needs the role admin.</Empty>;
  }
  if (screen.value === "process") return <Process key={place.value.path[1]} />;
  const Page = Object.hasOwn(PAGES, screen.value) ? PAGES[screen.value] : undefined;
  if (Page !== undefined) return <Page />;
  return <Empty title="Page not found" action={{ text: "Overview", href: "#/" }} />;
}

/** Sets the window's title. Scrolls a new screen to its top and moves the focus there. */
function useTitle(): void {
  const [first = "overview", name] = place.value.path;
  const where = name ?? first[0]!.toUpperCase() + first.slice(1);
  const isKnown = useRef(false);
  const count = (state: State) => stateCounts.value.get(state) ?? 0;
  const failed = count("errored") + count("crashed");
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
