/** The dashboard: which screen is shown, and the keys that work on all of them. */

import { render } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { startFeed } from "./data/feed.ts";
import { listenForKeys, useKeys } from "./shell/keys.ts";
import { go, place, screen } from "./data/router.ts";
import { signInByLink } from "./data/sign_in.ts";
import { connection, mayAdminister, processes } from "./data/store.ts";
import { nextTheme } from "./shell/theme.ts";
import { Apply } from "./config/apply.tsx";
import { Cron } from "./cron/cron.tsx";
import { Events } from "./events/events.tsx";
import { Graph } from "./graph/graph.tsx";
import { Host } from "./host/host.tsx";
import { Logs } from "./logs/log_pages.tsx";
import { Overview } from "./process/overview.tsx";
import { Process } from "./process/process_page.tsx";
import { Processes } from "./process/process_list.tsx";
import { SignIn } from "./pages/sign_in.tsx";
import { Start } from "./process/start.tsx";
import { Webhooks } from "./webhooks/webhooks.tsx";
import { Empty, helpOpen, paletteOpen } from "./controls/controls.tsx";
import { Help } from "./shell/help.tsx";
import { Palette } from "./shell/palette.tsx";
import { Shell } from "./shell/shell.tsx";

function App() {
  useKeys({
    "g o": () => go([]),
    "g p": () => go(["processes"]),
    "g l": () => go(["logs"]),
    "g g": () => go(["graph"]),
    "g c": () => go(["cron"]),
    "g w": () => go(["webhooks"]),
    "g h": () => go(["host"]),
    "g e": () => go(["events"]),
    "g a": () => mayAdminister.value && go(["apply"]),
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
      <Help />
      <Palette />
    </Shell>
  );
}

function Screen() {
  switch (screen.value) {
    case "overview":
      return <Overview />;
    case "processes":
      return <Processes />;
    case "process":
      return <Process key={place.value.path[1]} />;
    case "logs":
      return <Logs />;
    case "graph":
      return <Graph />;
    case "cron":
      return <Cron />;
    case "events":
      return <Events />;
    case "webhooks":
      return <Webhooks />;
    case "apply":
      return <Apply />;
    case "host":
      return <Host />;
    case "start":
      return <Start />;
    default:
      return <Empty title="There is no such page" action={{ text: "Overview", href: "#/" }} />;
  }
}

/** The window's title; and a new screen begins at its top, with the focus in it. */
function useTitle(): void {
  const [first = "overview", name] = place.value.path;
  const where = name ?? first[0]!.toUpperCase() + first.slice(1);
  const isKnown = useRef(false);
  const failed =
    [...processes.value?.values() ?? []].filter(({ state }) =>
      state === "errored" || state === "crashed"
    ).length;
  useEffect(() => {
    document.title = `${failed > 0 ? `(${failed}) ` : ""}${where} · procsup`;
  }, [where, failed]);
  useEffect(() => {
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
