/** Errors of a program that lacks a permission. Each is removed in turn. */

import { assertEquals, assertMatch } from "@std/assert";
import { isLinux } from "../../src/platform/os.ts";
import { linkLibrary } from "../support/link_library.ts";
import { TestDaemon } from "../support/procsup.ts";
import { tempHome } from "../support/temp_home.ts";

/** The code and message of the error of `body` with only those flags. */
async function told(folder: string, body: string, flags: readonly string[], env = {}) {
  linkLibrary(folder);
  const file = await Deno.makeTempFile({ dir: folder, suffix: ".ts" });
  await Deno.writeTextFile(
    file,
    `import { Manager, ProcsupError } from "@procsup/procsup";
     import { Client } from "@procsup/procsup/client";
     try { ${body}; console.log("worked"); } catch (error) {
       console.log(error instanceof ProcsupError && error.code, error.message);
     }`,
  );
  const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-prompt", ...flags, file],
    cwd: folder,
    env: { NO_COLOR: "1", ...env },
    stdin: "null",
  }).output();
  return new TextDecoder().decode(stdout).trim() || new TextDecoder().decode(stderr);
}

Deno.test({
  name: "Manager.open() names the missing permissions",
  ignore: !isLinux,
  fn: async () => {
    await using home = tempHome();
    const open = `await (await Manager.open({ logDir: "${home.path}/logs" })).close()`;
    const names = ["read", "write", "run", "env", "sys", "net", "ffi", "import"];
    const all = names.map((name) => `--allow-${name}`);
    assertEquals(await told(home.path, open, all), "worked");
    await Promise.all(all.map(async (missing) => {
      assertEquals(
        await told(home.path, open, all.filter((flag) => flag !== missing)),
        `forbidden Cannot supervise processes without ${missing}`,
      );
    }));
    assertEquals(
      await told(home.path, open, ["--allow-all", "--deny-net=example.com"]),
      "forbidden Cannot supervise processes without --allow-net",
    );
    assertEquals(
      await told(home.path, open, []),
      `forbidden Cannot supervise processes without ${all.join(" ")}`,
    );
  },
});

Deno.test("Client names the missing permission", async () => {
  await using daemon = await TestDaemon.start();
  await using folder = tempHome();
  const { home } = daemon;
  const { url } = await daemon.client.call("web_start", { listen: "127.0.0.1:0" });
  const { token } = await daemon.client.call("token");
  const list = "await new Client().list()";
  const needed: Readonly<Record<string, string>> = {
    "--allow-read": `=${home}`,
    "--allow-write": `=${home}`,
    "--allow-env": "=PROCSUP_HOME,HOME",
    "--allow-net": `=unix:${home}/procsup.sock`,
  };
  const without = (left: string) =>
    Object.entries(needed).filter(([flag]) => flag !== left).map((pair) => pair.join(""));
  const env = { PROCSUP_HOME: home };
  assertEquals(await told(folder.path, list, without(""), env), "worked");
  await Promise.all(
    Object.keys(needed).map(async (flag) =>
      assertMatch(
        await told(folder.path, list, without(flag), env),
        new RegExp(`^forbidden Cannot (find|talk to) the daemon: .*${flag}`),
      )
    ),
  );
  const overUrl = `await new Client({ url: "${url}", token: "${token}" }).list()`;
  assertEquals(await told(folder.path, overUrl, [`--allow-net=${new URL(url).host}`]), "worked");
  assertMatch(
    await told(folder.path, overUrl, []),
    /^forbidden Cannot talk to the daemon: .*--allow-net/,
  );
});
