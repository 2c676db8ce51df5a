/** A configuration that is pasted, uploaded or named: planned, then applied. */

import { assert, assertEquals } from "@std/assert";
import { browserTest, routeVerb, VIOLATIONS } from "./browser.ts";

const app = (seconds: number) =>
  `{ entrypoint: /bin/sleep, args: ["${seconds}"], cwd: /, min_uptime: 50ms }`;

browserTest(
  "a pasted configuration is planned, then applied; mistakes have a position",
  async (dashboard) => {
    const { page, daemon } = dashboard;
    await page.addInitScript(VIOLATIONS);
    await dashboard.signIn();
    await dashboard.go("#/apply");
    // In place of the text field, which is labelled.
    const text = page.locator(".cm-content[aria-label=Configuration]");
    const write = async (all: string) => {
      await text.press("Control+a");
      await page.keyboard.insertText(all);
    };
    await write("processes:\n  one:\n    ");
    await page.keyboard.type("entr");
    const offered = page.locator(".cm-tooltip-autocomplete [aria-selected]");
    await page.locator(".cm-completionInfo").filter({ hasText: "Script or program" }).waitFor();
    await offered.filter({ hasText: "entrypoint" }).click();
    await page.keyboard.type("/bin/sleep");
    await page.keyboard.press("Enter");
    await page.keyboard.type("restart_policy: ne");
    await offered.filter({ hasText: "never" }).click();
    await page.getByRole("button", { name: "Show the plan" }).click();
    await page.locator(".plan-added").getByText("one").waitFor();

    await write(`processes:\n  one: { entrypont: /bin/sleep, ttty: 1 }\n`);
    await page.getByRole("button", { name: "Show the plan" }).click();
    const problem = page.locator(".problem");
    await problem.waitFor();
    assert(
      (await problem.textContent())!.includes("procsup.yaml:2"),
      await problem.textContent() ?? "",
    );

    const marked = await page.locator(".cm-lintRange-error").allTextContents();
    assertEquals(marked, ["entrypont", "ttty"]);
    const line = page.locator(".cm-gutter-lint .cm-gutterElement", {
      has: page.locator(".cm-lint-marker-error"),
    });
    const [mark, key] = [await line.boundingBox(), await text.getByText("entrypont").boundingBox()];
    assert(mark!.y <= key!.y && key!.y < mark!.y + mark!.height, JSON.stringify([mark, key]));

    await write(`processes:\n  one: ${app(1000)}\n  two: ${app(1000)}\n`);
    assertEquals(await page.locator(".cm-lintRange-error").count(), 0);
    await problem.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Show the plan" }).click();
    await page.locator(".plan-added").getByText("one").waitFor();
    assertEquals(await daemon.client.call("list"), []);
    await page.getByRole("button", { name: "Apply 2 changes" }).click();
    await page.getByRole("heading", { name: "Applied" }).waitFor();
    const up = await daemon.client.call("list");
    assertEquals(up.map(({ name, state }) => `${name} ${state}`), ["one running", "two running"]);

    // Further typing invalidates the previous plan.
    await write(`processes:\n  one: ${app(2000)}\n  two: ${app(1000)}\n`);
    await page.getByRole("button", { name: "Show the plan" }).click();
    await page.locator(".plan-changed").getByText("is changed and restarted").waitFor();
    await text.press("End");
    await page.keyboard.type(" ");
    await page.locator(".plan-changed").getByText("is changed").waitFor({ state: "detached" });
    // Also one that is under way.
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    await routeVerb(page, "config_reload", async (route) => (await held, await route.continue()));
    await page.getByRole("button", { name: "Show the plan" }).click();
    await page.getByRole("button", { name: "Planning…" }).waitFor();
    await text.press("End");
    await page.keyboard.type(" ");
    release();
    await page.getByRole("button", { name: "Show the plan" }).waitFor();
    assertEquals(await page.getByRole("heading", { name: "Plan", exact: true }).count(), 0);
    await page.unrouteAll();

    await page.getByLabel("Choose a file").setInputFiles({
      name: "three.toml",
      mimeType: "text/plain",
      buffer: (await import("node:buffer")).Buffer.from(
        "[processes.three]\nentrypoint = '/bin/false'\ncwd = '/'\nmax_restarts = 0\n" +
          "[processes.four]\nentrypoint = '/bin/sleep'\nargs = ['1000']\ncwd = '/'\n",
      ),
    });
    await page.getByRole("button", { name: "Show the plan" }).click();
    await page.locator(".plan-added").getByText("three").waitFor();
    await page.getByRole("button", { name: "Apply 2 changes" }).click();
    await page.getByRole("heading", { name: "Applied in part" }).waitFor();
    assertEquals(await page.evaluate("window.violations"), undefined);
  },
);

browserTest(
  "a file on the machine is applied, and compared with what runs",
  async (dashboard) => {
    const { page, daemon } = dashboard;
    const path = `${daemon.home}/procsup.yaml`;
    await Deno.writeTextFile(path, `processes:\n  one: ${app(1000)}\n  gone: ${app(1000)}\n`);
    await dashboard.signIn();
    await dashboard.go("#/apply");
    await page.getByRole("button", { name: "A file on the machine" }).click();
    await page.getByLabel("Path").fill(path);
    await page.getByRole("button", { name: "Show the plan" }).click();
    await page.getByRole("button", { name: "Apply 2 changes" }).click();
    await page.getByRole("heading", { name: "Applied" }).waitFor();

    await dashboard.go("#/processes/one?tab=config");
    await page.getByRole("button", { name: "Compare with the file" }).click();
    await page.getByText("Matches the file").waitFor();
    await Deno.writeTextFile(path, `processes:\n  one: ${app(1000).replace("50ms", "70ms")}\n`);
    await page.getByRole("button", { name: "Compare with the file" }).click();
    await page.locator(".diff").getByText("min_uptime").waitFor();

    await dashboard.go("#/apply");
    await page.getByLabel("Path").fill("");
    await page.getByRole("checkbox").check();
    await page.getByRole("button", { name: "Show the plan" }).click();
    await page.locator(".plan-removed").getByText("gone").waitFor();
    await page.getByRole("button", { name: "Apply 2 changes" }).click();
    await page.getByRole("heading", { name: "Applied" }).waitFor();
    assertEquals((await daemon.client.call("list")).map(({ name }) => name), ["one"]);
  },
);
