/** A real Prometheus scrapes a daemon, and promtool checks what is given to its users. */

import { assert, assertEquals } from "@std/assert";
import { fromFileUrl } from "@std/path";
import { freePort } from "../support/http_load.ts";
import { isInstalled } from "../support/installed.ts";
import { TestWeb } from "../support/web.ts";
import { waitFor } from "../support/wait_for.ts";

const FILES = fromFileUrl(import.meta.resolve("../../scripts/prometheus"));
const ignore = !isInstalled("prometheus") || !isInstalled("promtool");
// deno-lint-ignore no-console
if (ignore) console.warn("Tests of Prometheus are left out: install prometheus");

/** The names of metrics in a text. */
function metricsIn(text: string): Set<string> {
  return new Set(text.match(/\bprocsup_\w+/g));
}

async function promtool(args: readonly string[], input = ""): Promise<void> {
  const child = new Deno.Command("promtool", {
    args: [...args],
    cwd: FILES,
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(input));
  await writer.close();
  const { code, stdout, stderr } = await child.output();
  const text = new TextDecoder();
  assertEquals(code, 0, `promtool ${args.join(" ")}: ${text.decode(stdout)}${text.decode(stderr)}`);
}

Deno.test({
  name:
    "Prometheus scrapes a daemon, also the one after a killed one, and its rules and dashboard know the metrics",
  ignore,
  async fn() {
    await using web = await TestWeb.start();
    const { daemon } = web;
    // Processes that end soon count too.
    const busy =
      "while :; do sh -c 'i=0; while [ $((i=i+1)) -lt 29999 ]; do :; done'; sleep 0.1; done";
    await daemon.startScript("api", busy, { instances: 2, alerts: "cpu > 1000%" });
    await daemon.startScript("failed", "exit 3", { restart_policy: "never" }).catch(() => {});
    await daemon.startScript("checked", "exec sleep 1000", {
      health_check: { type: "command", command: "true", interval: "100ms" },
    });
    await daemon.startScript("job", "exit 0", { cron: "0 0 29 2 *" });
    await daemon.client.call("cron_run", { name: "job" });
    const { token } = await daemon.client.call("token_create", { name: "scrape", role: "read" });
    const text = async () =>
      await (await fetch(`http://127.0.0.1:${web.port}/metrics`, {
        headers: { authorization: `Bearer ${token}` },
      })).text();
    await waitFor(async () => (await text()).includes("procsup_schedule_last_success"));
    await waitFor(async () => (await text()).includes("procsup_process_healthy"));
    const metrics = await text();
    await promtool(["check", "metrics"], metrics);
    await promtool(["check", "rules", "alerts.yaml"]);
    await promtool(["test", "rules", "alerts_test.yaml"]);
    const known = metricsIn(metrics);
    for (const file of ["alerts.yaml", "dashboard.json"]) {
      const used = metricsIn(Deno.readTextFileSync(`${FILES}/${file}`));
      assertEquals([...used.difference(known)], [], file);
    }
    const named = (metric: string) =>
      [...metrics.matchAll(new RegExp(`^procsup_process_${metric}{.*?name="(.*?)"`, "gm"))]
        .map(([, name]) => name);
    assertEquals([named("healthy"), named("last_exit_code")], [["checked"], ["failed", "job"]]);

    const [port, folder] = [freePort(), daemon.home];
    const scrape = {
      global: { scrape_interval: "1s" },
      scrape_configs: [{
        job_name: "procsup",
        authorization: { credentials: token },
        static_configs: [{ targets: [`127.0.0.1:${web.port}`] }],
      }],
    };
    Deno.writeTextFileSync(`${folder}/prometheus.yml`, JSON.stringify(scrape));
    await using prometheus = new Deno.Command("prometheus", {
      args: [
        `--config.file=${folder}/prometheus.yml`,
        `--storage.tsdb.path=${folder}/tsdb`,
        `--web.listen-address=127.0.0.1:${port}`,
      ],
      stdout: "null",
      stderr: "null",
    }).spawn();
    assert(prometheus.pid > 0);
    const ask = async (query: string): Promise<{ metric: Record<string, string> }[]> => {
      const url = `http://127.0.0.1:${port}/api/v1/query?${new URLSearchParams({ query })}`;
      const answer = await fetch(url).then((response) => response.json()).catch(() => undefined);
      return answer?.data?.result ?? [];
    };
    const up = 'procsup_process_up{app="api"} == 1';
    await waitFor(async () => (await ask(up)).length === 2, { what: "both instances" });
    const [{ metric }] = await ask(up) as [{ metric: Record<string, string> }];
    assertEquals([metric.instance, metric.exported_instance], [`127.0.0.1:${web.port}`, undefined]);
    const rate = 'rate(procsup_process_cpu_seconds_total{app="api"}[10s]) > 0.02';
    await waitFor(async () => (await ask(rate)).length === 2, { what: "the CPU of both" });
    await daemon.kill();
    await waitFor(async () => (await ask("up == 0")).length === 1, { what: "the lost daemon" });
    await daemon.run();
    await waitFor(async () => (await ask(up)).length === 2, { what: "the next daemon" });
  },
});
