/** Webhooks in the dashboard, with a receiver that gets real messages. */

import { assert, assertEquals } from "@std/assert";
import { Receiver, SECRET } from "../support/receiver.ts";
import { waitFor } from "../support/wait_for.ts";
import { bringAxe, findings } from "./axe.ts";
import { browserTest, calledBy, type Dashboard, routeVerb } from "./browser.ts";

const ALL = ["minor", "moderate", "serious", "critical"];

/** Sends crashes to two receivers; `word` is in the URLs, which nobody may see. */
async function tell({ daemon }: Dashboard, good: Receiver, bad: Receiver, word: string) {
  Deno.writeTextFileSync(`${daemon.home}/key`, SECRET);
  const file = `${daemon.home}/procsup.yaml`;
  Deno.writeTextFileSync(
    file,
    `
webhooks:
  ops: { url: "${good.url}/${word}", secret: { file: key } }
  pager: { url: "${bad.url}/${word}", events: crash, only: "ns:shop", retry_delay: 1m }
processes:
  crasher:
    entrypoint: /bin/sh
    args: ["-c", "exit 3"]
    namespace: shop
    restart_delay: 10ms
    max_restarts: 2
`,
  );
  await daemon.client.call("start_all", { config: file });
}

browserTest("webhooks are shown and tested without their URLs", async (dashboard) => {
  const { page, daemon } = dashboard;
  await using good = new Receiver();
  await using bad = new Receiver(() => 503);
  const word = `w${crypto.randomUUID()}`;
  await dashboard.signIn();
  await dashboard.go("#/settings/webhooks");
  await page.getByText("No webhooks yet").waitFor();
  await bringAxe(page);
  assertEquals(await findings(page, ALL), []);

  await tell(dashboard, good, bad, word);
  const row = (name: string) => page.getByRole("row", { name: new RegExp(`^${name} `) });
  await row("pager").getByText("✗ it answered 503").waitFor();
  await row("pager").getByText("will be retried").waitFor();
  await row("pager").getByText("only ns:shop").waitFor();
  await row("pager").getByText("not signed").waitFor();
  await row("pager").getByText(`${bad.url}/…`).waitFor();
  // Three crashes, the last of which is reported by its outcome.
  const cells = async () => await row("ops").locator("td.number").allTextContents();
  await waitFor(async () => (await cells()).join() === "0,3,0,0", { what: "three deliveries" });
  assertEquals((await page.content()).includes(word), false);

  for (const [width, colorScheme] of [[1280, "light"], [1280, "dark"], [390, "light"]] as const) {
    await page.setViewportSize({ width, height: 800 });
    await page.emulateMedia({ colorScheme });
    // Colors need a moment to change to the other theme.
    const isWell = async () => {
      assertEquals(await findings(page, ALL), []);
      return true;
    };
    await waitFor(isWell, { what: `axe to be content at ${width} ${colorScheme}` });
  }
  await page.setViewportSize({ width: 1280, height: 800 });

  await page.getByRole("button", { name: "Send test to ops" }).click();
  await page.locator(".toast").getByText("ops passed the test: it answered 200").waitFor();
  assertEquals(good.of("test").length, 1);
  assertEquals(good.got.map(({ signed }) => signed), [true, true, true, true]);
  await page.getByRole("button", { name: "Send test to pager" }).click();
  const failure = page.locator(".toast").filter({ hasText: "pager failed the test" });
  await failure.getByText("it answered 503").waitFor();

  const file = `${daemon.home}/procsup.yaml`;
  Deno.writeTextFileSync(file, "processes: {}\n");
  await daemon.client.call("config_reload", { config_path: file, prune: true });
  await page.getByText("No webhooks yet").waitFor();
});

browserTest(
  "the timeline names failing webhooks, and counts the restarts of the day",
  async (dashboard) => {
    const { page, daemon } = dashboard;
    await using good = new Receiver();
    await using bad = new Receiver(() => 503);
    await tell(dashboard, good, bad, "x");
    await waitFor(() => good.of("errored").length === 1 && bad.got.length > 0);
    await waitFor(async () => (await daemon.client.call("webhook_list"))[1]!.last !== null);
    await dashboard.signIn();
    for (const _ of ["opened", "loaded again"]) {
      await page.getByText("Restarts today: 2 (crash 2)").waitFor();
      await page.getByRole("heading", { name: "Failed webhooks" }).waitFor();
      await page.reload();
    }
    await page.locator(".needy").getByRole("link", { name: "pager" }).click();
    await page.locator("table.webhooks").waitFor();
  },
  { ownDaemon: true },
);

browserTest("a webhook is added, changed, tested and deleted", async (dashboard) => {
  const { page, daemon } = dashboard;
  await using receiver = new Receiver();
  await dashboard.signIn();
  await dashboard.go("#/settings/webhooks");
  await page.getByRole("button", { name: "New webhook" }).click();
  const dialog = page.getByRole("dialog");
  await bringAxe(page);
  assertEquals(await findings(page, ALL), []);
  await dialog.getByLabel("Name").fill("chat");
  await dialog.getByLabel("URL").fill("ftp://nowhere");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.getByRole("alert").getByText("webhooks.chat.url").waitFor();
  await dialog.getByLabel("URL").fill("https://hooks.slack.com/services/x");
  assertEquals(await dialog.getByLabel("Format").inputValue(), "slack");
  await dialog.getByLabel("URL").fill(`${receiver.url}/${SECRET}`);
  await dialog.getByLabel("Format").selectOption("slack");
  // The box is beside its text.
  const label = dialog.locator("label", { hasText: "recovered" });
  const middle = (box: { y: number; height: number } | null) => box!.y + box!.height / 2;
  const recovered = dialog.getByLabel("recovered");
  const [box, text] = await Promise.all([recovered.boundingBox(), label.boundingBox()]);
  assert(Math.abs(middle(box) - middle(text)) < 4, JSON.stringify({ box, text }));
  await recovered.uncheck();
  await dialog.getByRole("button", { name: "Save" }).click();
  const row = page.getByRole("row", { name: /^chat / });
  await row.getByText("crash, errored, unhealthy, release_failed").waitFor();
  assertEquals((await page.content()).includes(SECRET), false);
  await page.getByRole("button", { name: "Change chat" }).click();
  await dialog.getByLabel("Targets").fill("ns:shop\ntag:a b\n");
  await dialog.getByRole("button", { name: "Save" }).click();
  await row.getByText("only ns:shop, tag:a b").waitFor();
  // Saving another change keeps the targets.
  await page.getByRole("button", { name: "Change chat" }).click();
  assertEquals(await dialog.getByLabel("Targets").inputValue(), "ns:shop\ntag:a b");
  await dialog.getByLabel("unhealthy").uncheck();
  const saved = page.waitForRequest((request) => calledBy(request).action === "webhook_set");
  await dialog.getByRole("button", { name: "Save" }).click();
  assertEquals(Object.keys(calledBy(await saved).payload!), ["name", "format", "events"]);
  await row.getByText("unhealthy").waitFor({ state: "detached" });
  // A dialog that is closed before its answer does not close the next one.
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  await routeVerb(page, "webhook_set", async (route) => (await held, await route.continue()));
  await page.getByRole("button", { name: "Change chat" }).click();
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.getByRole("button", { name: "Saving chat…" }).waitFor();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("button", { name: "New webhook" }).click();
  release();
  await page.getByText("Saved chat").last().waitFor();
  await dialog.getByRole("heading", { name: "New webhook" }).waitFor();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await page.unrouteAll();
  await row.getByText("only ns:shop, tag:a b").waitFor();
  await page.getByRole("button", { name: "Send test to chat" }).click();
  await waitFor(() => receiver.got.some(({ body }) => /^Test of procsup/.test(body.text)));
  // The added webhook survives a killed daemon.
  await daemon.kill();
  await daemon.run();
  assertEquals((await daemon.client.call("webhook_list")).map(({ name }) => name), ["chat"]);
  // It answers on its socket before it listens for browsers.
  const livez = new URL("/livez", page.url());
  await waitFor(async () => (await (await fetch(livez)).text()) !== "", { what: "the listener" });
  await page.getByRole("button", { name: "Delete chat" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.getByText("No webhooks yet").waitFor();
});

browserTest(
  "webhooks are visible to all roles, but only admins can test them",
  async (dashboard) => {
    const { page } = dashboard;
    await using good = new Receiver();
    await tell(dashboard, good, good, "x");
    const origin = await dashboard.listen();
    for (const role of ["read", "operate", "admin"] as const) {
      await dashboard.signInAs(role, origin);
      await dashboard.go("#/settings/webhooks");
      await page.locator("table.webhooks").waitFor();
      const count = await page.getByRole("button", { name: /^Send test/ }).count();
      assertEquals(count, role === "admin" ? 2 : 0, role);
    }
  },
);
