/** procsup in a container must read the configuration that was exported. */

import {
  assert,
  assertEquals,
  assertMatch,
  assertNotEquals,
  assertStringIncludes,
} from "@std/assert";
import { loadConfig } from "../../config/load_config.ts";
import { type Engine, ENGINES } from "../engines.ts";
import { exportStack } from "../export_stack.ts";
import { stackName } from "../stack.ts";
import { Files } from "../../../tests/config/files.ts";
import { exportedText, exportText } from "./exporting.ts";

const CONTAINERS = ENGINES.filter((engine) => engine !== "systemd");

/** Exports a file with its profile `prod`. */
async function exportProfile(text: string, to: Engine | "dockerfile"): Promise<string> {
  await using files = new Files({ "procsup.yaml": text });
  const file = `${files.folder}/procsup.yaml`;
  const profile = "prod";
  const loaded = await loadConfig({ files: [file], env: {}, profile, assumeVariables: true });
  return exportStack({ to, file, loaded, profile }).files.map((one) => one.text).join("\n");
}

const PROFILED = `
processes:
  api:
    command: /bin/echo --port \${PORT:-80} one
    env: { MODE: "\${MODE}", COLOR: "\${COLOR}" }
profiles:
  prod:
    processes:
      api: { command: /bin/echo --port 9000 two, env: { MODE: live } }
`;

Deno.test("a container reads the file with the exported profile", async () => {
  for (const engine of [...CONTAINERS, "dockerfile"] as const) {
    assertStringIncludes(await exportProfile(PROFILED, engine), "--profile=prod", engine);
  }
});

Deno.test("a profile replaces references to variables in exports too", async () => {
  const unit = await exportProfile(PROFILED, "systemd");
  assertStringIncludes(unit, "ExecStart=/bin/echo --port 9000 two\n");
  assertStringIncludes(unit, 'Environment="MODE=live"');
  assertStringIncludes(unit, "must set: COLOR\n");
  const compose = await exportProfile(PROFILED, "compose");
  assertStringIncludes(compose, "MODE: live");
  assert(!compose.includes("PORT"), compose);
});

Deno.test("an engine need not provide PATH and HOME, which every container has", async () => {
  const app = 'command: /bin/echo, env: { PATH: "bin:${PATH}", CACHE: "${HOME}/c", A: "${B}" }';
  for (const engine of CONTAINERS) {
    const text = await exportedText(`processes: { api: { ${app} } }`, engine);
    assert(!/\bPATH\b|\bHOME\b/.test(text), text);
    assertStringIncludes(text, "B");
  }
});

Deno.test("an image starts procsup by its path, whatever the app's PATH", async () => {
  const text = 'processes: { api: { command: /bin/echo, env: { PATH: "/opt" } } }';
  assertStringIncludes(await exportedText(text, "kubernetes"), '- "/usr/local/bin/procsup"\n');
  const { files } = await exportText(text, "dockerfile");
  assertStringIncludes(files[0]!.text, 'ENTRYPOINT ["/usr/local/bin/procsup"]');
});

Deno.test("Kubernetes exports disable the variables of its Services", async () => {
  const text = await exportedText("processes: { api: { command: /bin/echo } }", "kubernetes");
  assertStringIncludes(text, "enableServiceLinks: false");
});

Deno.test("an absolute path in the folder has no counterpart in an image", async () => {
  await using files = new Files({ "app.env": "A=1", "api/x": "", "run.sh": "" });
  const { folder } = files;
  const api = `{ entrypoint: /bin/sh, args: [x], cwd: ${folder}/api, env_file: ${folder}/app.env }`;
  const other = "{ entrypoint: ./run.sh, interpreter: /bin/sh, cwd: api, env_file: app.env }";
  files.write("a.yaml", `processes: { api: ${api} }`);
  files.write("b.yaml", `processes: { api: ${other} }`);
  for (const to of ENGINES) {
    const exported = async (name: string) => {
      const loaded = await files.load([name]);
      const { stack } = exportStack({ to, file: `${folder}/${name}`, loaded });
      return {
        lost: stack.losses.map(({ key }) => key),
        mounted: Object.values(stack.apps[0]!.files).map(({ inside }) => inside),
      };
    };
    const lost = to === "systemd" ? [] : ["cwd"];
    assertEquals(await exported("a.yaml"), { lost, mounted: [`${folder}/app.env`] }, to);
    assertEquals(await exported("b.yaml"), { lost: [], mounted: ["/app/app.env"] }, to);
  }
});

Deno.test("a CPU limit has no more decimals than every engine accepts", async () => {
  const text = "processes: { api: { command: /bin/echo, limits: { cpu_percent: 33.333 } } }";
  assertStringIncludes(await exportedText(text, "compose"), 'cpus: "0.333"');
  assertStringIncludes(await exportedText(text, "swarm"), 'cpus: "0.333"');
  assertStringIncludes(await exportedText(text, "kubernetes"), 'cpu: "333m"');
  assertStringIncludes(await exportedText(text, "systemd"), "CPUQuota=33.3%\n");
});

Deno.test("an extended file outside the folder is named, because the image lacks it", async () => {
  await using files = new Files({
    "base.yaml": "defaults: { env: { A: b } }",
    "app/procsup.yaml": "{ extends: ../base.yaml, processes: { api: { entrypoint: sleep } } }",
  });
  const loaded = await files.load(["app/procsup.yaml"]);
  for (const to of ENGINES) {
    const { stack } = exportStack({ to, file: `${files.folder}/app/procsup.yaml`, loaded });
    const lost = stack.losses.map(({ key }) => key);
    assertEquals(lost, to === "systemd" ? [] : ["extends"], to);
  }
});

Deno.test("compose accepts an empty variable, and dependencies that it cannot await are named", async () => {
  const app = { command: "/bin/echo", env: { A: "${A}" } };
  const processes = {
    app: { ...app, depends_on: { once: "completed", job: "completed_ok" } },
    once: { command: "/bin/echo" },
    job: { command: "/bin/echo", cron: "@daily" },
  };
  const { files, stack } = await exportText(JSON.stringify({ processes }), "compose");
  assertStringIncludes(files[0]!.text, 'A: "${A?}"');
  assertEquals(stack.losses.map(({ text }) => text), [
    "once: completed: compose waits for its success",
    "job: completed_ok: compose does not run a job before its time",
  ]);
});

Deno.test("Nomad runs a failed job only once, and gets integer nanoseconds", async () => {
  const job = await exportText(
    "processes: { job: { command: /bin/echo, restart_policy: never } }",
    "nomad",
  );
  const group = (text: string) => JSON.parse(text).Job.TaskGroups[0];
  assertEquals(group(job.files[0]!.text).ReschedulePolicy, { Attempts: 0, Unlimited: false });
  const app = await exportText(
    "processes: { app: { command: /bin/echo, listen_timeout: 8002ms } }",
    "nomad",
  );
  const { HealthyDeadline, ProgressDeadline } = group(app.files[0]!.text).Update;
  assertEquals([HealthyDeadline, ProgressDeadline], [128_002_000_000, 256_004_000_000]);
});

Deno.test("a Nomad job names every loss of a key", async () => {
  const sockets = ["127.0.0.1:81", "[::1]:82"];
  const file = { processes: { api: { command: "/bin/echo", sockets } } };
  const { files } = await exportText(JSON.stringify(file), "nomad");
  const lost = JSON.parse(files[0]!.text).Job.Meta["no counterpart: sockets"];
  for (const text of sockets) assertStringIncludes(lost, text);
});

Deno.test("a namespace that is not a valid label value is named and left out", async () => {
  for (const [namespace, isLost] of [["front-", true], ["front", false]] as const) {
    const text = `processes: { api: { command: /bin/echo, namespace: ${namespace} } }`;
    const { files, stack } = await exportText(text, "kubernetes");
    assertEquals(stack.losses.map(({ key }) => key), isLost ? ["namespace"] : []);
    assertEquals(files[0]!.text.includes("part-of"), !isLost);
  }
});

Deno.test("two long folder names do not become the same stack", () => {
  assertEquals(stackName("/srv/customer-portal"), "customer-portal");
  const long = ["backend", "backoffice"].map((end) => stackName(`/srv/customer-portal-${end}`));
  for (const name of long) assertMatch(name, /^customer-port-[0-9a-f]{6}$/);
  assertNotEquals(long[0], long[1]);
});
