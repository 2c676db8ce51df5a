import { assertEquals } from "@std/assert";
import { withoutNodeShim } from "../../src/platform/launch/inherited_environment.ts";
import { givenEnvironment } from "../../src/platform/launch/lent_variables.ts";

Deno.test("withoutNodeShim() removes Deno's own node from the search path", () => {
  const PATH = "/home/me/.cache/deno/node_compat_bin:/usr/bin:/bin";
  const env = { PATH, DENO_NODE_SHIM_ACTIVE: "1", LANG: "C" };
  assertEquals(withoutNodeShim(env), { PATH: "/usr/bin:/bin", LANG: "C" });
});

Deno.test("withoutNodeShim() leaves any other environment alone", () => {
  const env = { PATH: "/opt/node_compat_bin:/bin", LANG: "C" };
  assertEquals(withoutNodeShim(env), env);
});

Deno.test("inheritedEnvironment() leaves out the variables of a service manager, and our own", async () => {
  const dropped = ["NOTIFY_SOCKET", "LISTEN_FDS", "WATCHDOG_USEC", "INVOCATION_ID", "PROCSUP_HOME"]
    .concat("OTEL_SERVICE_NAME", "OTEL_EXPORTER_OTLP_ENDPOINT");
  const kept = ["LANG", "MY_LISTEN_FDS", "NOTIFY_SOCKETS", "PATH"];
  const module = import.meta.resolve("../../src/platform/launch/inherited_environment.ts");
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: [
      "eval",
      `import { inheritedEnvironment } from "${module}";
       console.log(Object.keys(inheritedEnvironment()).sort().join(" "));`,
    ],
    env: Object.fromEntries([...dropped, ...kept].map((name) => [name, "/"])),
    clearEnv: true,
  }).output();
  assertEquals(new TextDecoder().decode(stdout), `${kept.join(" ")}\n`);
});

Deno.test("givenEnvironment() has what the user set in place of what a launcher lends to Deno", () => {
  const lent = { PATH: "/bin", DENO_DIR: "/cache/1/.cache", DENO_NO_UPDATE_CHECK: "1" };
  const kept = { PROCSUP_USER_DENO_DIR: "/mine", PROCSUP_USER_NO_UPDATE_CHECK: "" };
  assertEquals(givenEnvironment({ ...lent, ...kept }), { PATH: "/bin", DENO_DIR: "/mine" });
  assertEquals(givenEnvironment(lent), lent);
});
