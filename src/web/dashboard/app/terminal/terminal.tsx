/** The tab with the terminal of an app. */

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { call, messageOf } from "../data/api.ts";
import { readTerminal } from "../data/feed_socket.ts";
import { connection, processesOf, until } from "../data/store.ts";
import { loadAsset } from "../data/tab_key.ts";

export function TerminalView({ name }: { readonly name: string }) {
  const host = useRef<HTMLDivElement>(null);
  const status = useSignal("Loading…");
  const readAloud = useRef((_: boolean) => {});
  useEffect(() => {
    const over = new AbortController();
    const { signal } = over;
    const open = async () => {
      const { openTerminal } = await loadAsset<typeof import("./xterm.ts")>("terminal");
      if (signal.aborted) return;
      const isUp = () => processesOf(name).some(({ pid }) => pid > 0);
      const terminal = openTerminal({
        ...{ host: host.current!, signal },
        read: (start) => readTerminal({ target: name, ...start }, signal),
        type: (text) => call("send", { target: name, text }),
        resize: (size) => call("attach", { target: name, ...size }),
        ready: (up) => until(() => connection.value === "live" && (!up || isUp()), signal),
        tell: (what) => status.value = what,
        leave: () => document.getElementById("tab-terminal")?.focus(),
      });
      readAloud.current = (isOn) => terminal.options.screenReaderMode = isOn;
    };
    open().catch((error) => status.value = messageOf(error));
    return () => over.abort();
  }, [name]);
  return (
    <>
      <div class="tty" ref={host} />
      <div class="row between small faint">
        <span role="status">{status.value || "Attached. Ctrl-] leaves the terminal."}</span>
        <label>
          <input
            type="checkbox"
            onChange={({ currentTarget }) => readAloud.current(currentTarget.checked)}
          />{" "}
          For a screen reader
        </label>
      </div>
    </>
  );
}
