/** The `text` blocks: a screen of top, the demo, and another program's file. */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { parse } from "yaml";
import { programLine, TestDaemon } from "../support/procsup.ts";
import { tmuxMissing, TmuxTerminal } from "../support/tmux.ts";
import { waitFor } from "../support/wait_for.ts";
import { TestWeb } from "../support/web.ts";
import { examplesIn, ROOT } from "./examples.ts";

function textOf(file: string): string {
  return examplesIn("text").find((example) => example.file === file)!.text;
}

/** Without numbers, units, bars and column widths. */
function masked(line: string): string {
  return line.replace(/\s+#.*/, "").replace(/[▁-█]+/g, "BAR").replace(/─+/g, "─")
    .replace(/(\d+h)?(\d+m)?\d+(\.\d+)+|\d+h\d+m|\d+/g, "N")
    .replace(/N ?(%|[kMG]?B|m?s|m|h|d)(?=\s|$)/g, "AMOUNT").replace(/\s+/g, " ").trim();
}

Deno.test({
  name: "the screen of the live view matches procsup top",
  ignore: tmuxMissing(),
  async fn() {
    const shown = textOf("src/docs/dashboard.md").trimEnd().split("\n");
    const said = shown.filter((line) => /^(·| {2}[A-Z])/.test(line));
    const script = said.map((line) =>
      `echo '${line.slice(2)}'${line.startsWith("·") ? " >&2" : ""}; sleep 0.2`
    );
    await using daemon = await TestDaemon.start();
    await daemon.startScript("api", `${script.join("; ")}; exec sleep 1000`, { instances: 2 });
    await daemon.startScript("worker", "exec sleep 1000");
    const failing = { max_restarts: 2, restart_delay: "10ms", name: "mail", cwd: "/" };
    await daemon.client.call("start", {
      ...failing,
      ...{ entrypoint: "/bin/sh", args: ["-c", "exit 1"], wait: true },
    }).catch(() => {});
    await waitFor(async () => (await daemon.status("mail")).state === "errored");
    await using terminal = await TmuxTerminal.open({ PROCSUP_HOME: daemon.home }, {
      ...{ columns: 97, rows: shown.length },
    });
    await terminal.command(`${programLine()} top`);
    await terminal.sees("q quit");
    await terminal.keys("j");
    // The name and uptime vary in width, so the cores may not fit.
    const host = (line: string) =>
      line.replace(/^procsup \S+/, "procsup HOST").replace(/ up .*/, " up");
    const plain = (text: string) => text.trimEnd().split("\n").map((line) => host(masked(line)));
    const screen = await terminal.sees((screen) =>
      /[▁-█]/.test(screen) && said.every((line) => screen.includes(line.trim()))
    );
    assertEquals(plain(screen), plain(shown.join("\n")));
  },
});

Deno.test("the README shows what the demo prints", async () => {
  const { success, stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", `${ROOT}scripts/demo.ts`],
    env: { NO_COLOR: "1" },
    stdin: "null",
  }).output();
  assertEquals(success, true);
  // The rows of the table depend on timing.
  const lines = (text: string) =>
    text.split("\n").filter((line) => /^([$✔]|ID )/.test(line)).map(masked);
  const printed = lines(new TextDecoder().decode(stdout));
  let from = 0;
  const missing = lines(textOf("README.md")).filter((line) => {
    const at = printed.indexOf(line, from);
    if (at >= 0) from = at + 1;
    return at < 0;
  });
  assertEquals(missing, [], printed.join("\n"));
});

Deno.test("the scrape configuration reaches the metrics", async () => {
  interface Scrape {
    readonly authorization: { readonly credentials_file: string };
    readonly static_configs: readonly [{ readonly targets: readonly [string] }];
  }
  const { scrape_configs: [scrape] } = parse(textOf("src/docs/rest.md")) as {
    readonly scrape_configs: readonly [Scrape];
  };
  assertEquals(Object.keys(scrape.authorization), ["credentials_file"]);
  await using web = await TestWeb.start();
  const { token } = await web.daemon.client.call("token_create", { name: "scrape", role: "read" });
  // The test's port replaces the usual one; scheme, path and token type are Prometheus' defaults.
  const target = scrape.static_configs[0].targets[0].replace(":9615", `:${web.port}`);
  const answer = await fetch(`http://${target}/metrics`, {
    headers: { authorization: `Bearer ${token}` },
  });
  assertStringIncludes(await answer.text(), "# TYPE procsup_");
  assertEquals(answer.status, 200);
});
