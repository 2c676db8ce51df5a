import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { counterpart, ENGINES, EXPORTED_KEYS, INSIDE, lackOf } from "../engines.ts";
import { ProcsupError } from "../../model/errors.ts";
import { exportedText, exportText, sampleFiles, SAMPLES } from "./exporting.ts";

Deno.test("counterpart() has an entry for every process key on every engine", () => {
  for (const key of EXPORTED_KEYS) {
    for (const engine of ENGINES) {
      assert(counterpart(key, engine).length > 0, `${key} on ${engine}`);
    }
  }
});

Deno.test("exportStack() reflects every key that has a counterpart, and reports every other", async () => {
  for (const key of EXPORTED_KEYS.filter((key) => key !== "name")) {
    assert(key in SAMPLES, `no sample of ${key}`);
    const { set, unset } = sampleFiles(key);
    for (const engine of ENGINES) {
      const at = `${key} on ${engine}`;
      const { losses } = (await exportText(set, engine)).stack;
      const told = losses.some((loss) => loss.app === "app" && loss.key === key);
      if (lackOf(key, engine) !== undefined) {
        assert(told, `${at}: not told`);
        assert(
          (await exportedText(set, engine)).includes(lackOf(key, engine)!),
          `${at}: no comment`,
        );
        continue;
      }
      if (counterpart(key, engine).startsWith(INSIDE)) continue;
      assert(
        told || await exportedText(set, engine) !== await exportedText(unset, engine),
        `${at}: nothing changed`,
      );
    }
  }
});

Deno.test("exportStack() reports no loss for a file with defaults only", async () => {
  const text = "processes: { app: { command: /bin/sh run.sh, restart_policy: on-failure } }";
  for (const engine of ENGINES) {
    assertEquals((await exportText(text, engine)).stack.losses, [], engine);
  }
});

Deno.test("exportStack() publishes no port for a variable without a value", async () => {
  const file = (port: string) =>
    JSON.stringify({ processes: { web: { entrypoint: "./run.sh", env: { PORT: port } } } });
  for (const engine of ["compose", "swarm", "nomad", "kubernetes"] as const) {
    const error = await assertRejects(() => exportText(file("${PORT}"), engine), ProcsupError);
    assertEquals([error.code, error.message], ["bad_request", '"web": env.PORT needs PORT']);
    assertStringIncludes(await exportedText(file("${PORT:-8080}"), engine), "8080");
  }
  // These publish nothing: the value belongs to the machine on which the app runs.
  for (const to of ["systemd", "dockerfile"] as const) await exportText(file("${PORT}"), to);
});

Deno.test("exportStack() publishes sockets on every interface, and names those on loopback", async () => {
  const sockets = ["[::1]:8081", "127.0.0.2:8082", ":8083", "[7f00::1]:8084"];
  const file = { processes: { api: { command: "/bin/sh run.sh", sockets } } };
  const { stack } = await exportText(JSON.stringify(file), "kubernetes");
  assertEquals(stack.apps[0]!.ports, [8083, 8084]);
  assertEquals(stack.losses.map(({ key, text }) => [key, / (\S+);/.exec(text)?.[1]]), [
    ["sockets", "[::1]:8081"],
    ["sockets", "127.0.0.2:8082"],
  ]);
});
