/** What is polled, without a browser: its component draws nothing. */

import { assertEquals } from "@std/assert";
import { h, render } from "preact";

/** What rendering nothing uses of an element. */
const NOWHERE = { nodeType: 1, childNodes: [], firstChild: null } as object as Element;

Deno.test("a request that waits for its turn is not sent for a payload that has changed meanwhile", async () => {
  const { setTimeout, setInterval, fetch } = globalThis;
  const timers = new Map<number, { readonly at: number; readonly act: () => void }>();
  let [last, now] = [0, 0];
  const asked: string[] = [];
  Object.assign(globalThis, {
    location: new URL("http://127.0.0.1/"),
    document: { hidden: false },
    setTimeout: (act: () => void, ms = 0) => (timers.set(++last, { at: now + ms, act }), last),
    clearTimeout: (id: number) => timers.delete(id),
    setInterval: () => 0,
    fetch: (_: string, { body }: { body: string }) => {
      asked.push(JSON.parse(body).payload.target);
      return Promise.resolve(Response.json({ data: asked.at(-1) }));
    },
  });
  try {
    const { usePolled } = await import("../data/polled.ts");
    let shown: unknown;
    const Shown = ({ target, happened }: { target: string; happened: number }) => {
      shown = usePolled("why", { target }, Infinity, happened).data.value;
      return null;
    };
    const show = async (target: string, happened: number) => {
      render(h(Shown, { target, happened }), NOWHERE);
      await new Promise((done) => setTimeout(done));
    };
    const settled = async () => {
      while (timers.size > 0) {
        const [id, { at, act }] = [...timers].sort(([, one], [, other]) => one.at - other.at)[0]!;
        timers.delete(id);
        now = at;
        act();
        await new Promise((done) => setTimeout(done));
      }
    };
    await show("old", 0);
    await settled();
    assertEquals([asked, shown], [["old"], "old"]);
    await show("old", 1);
    await show("new", 1);
    await settled();
    assertEquals([asked, shown], [["old", "new"], "new"]);
  } finally {
    render(null, NOWHERE);
    Object.assign(globalThis, { setTimeout, setInterval, fetch });
  }
});
