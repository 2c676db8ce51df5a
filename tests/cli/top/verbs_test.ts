/** How the verbs of the live view are carried out. */

import { assertEquals } from "@std/assert";
import { perform } from "../../../src/cli/top/verbs.ts";
import type { DaemonClient } from "../../../src/protocol/daemon_client.ts";

Deno.test("perform() asks for every app, also after one that is refused", async () => {
  const asked: string[] = [];
  const call = (_verb: string, { target }: { readonly target: string }) => {
    asked.push(target);
    if (target === "gone") return Promise.reject(new Error("no such app"));
    return Promise.resolve({ results: [{ name: target, ok: true }] });
  };
  const client = { call } as unknown as DaemonClient;
  const { text, bad } = await perform(client, { verb: "roll", targets: ["gone", "web"] });
  assertEquals([asked, text, bad], [["gone", "web"], "✘ roll gone: no such app", true]);
});
