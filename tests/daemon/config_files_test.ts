import { assertEquals } from "@std/assert";
import { ConfigFiles } from "../../src/daemon/config_files.ts";
import { Webhooks } from "../../src/daemon/webhooks/webhooks.ts";
import { TestManager } from "../support/test_manager.ts";

Deno.test("ConfigFiles knows what it applied while a full disk delays writing it", async () => {
  await using test = await TestManager.open();
  const { supervisor, home } = test;
  const warn = () => {};
  const webhooks = new Webhooks({ folder: `${home}/webhooks`, warn });
  const configs = new ConfigFiles({
    supervisor,
    webhooks,
    path: `${home}/none/configs.json`,
    warn,
  });
  const file = `${home}/procsup.yaml`;
  const app = "{ command: sleep 1000, min_uptime: 10ms }";
  Deno.writeTextFileSync(file, `processes:\n  a: ${app}\n  b: ${app}\n`);
  await configs.apply({ files: [file] });
  Deno.writeTextFileSync(file, `processes:\n  b: ${app}\n`);
  const { plan } = await configs.apply({ prune: true });
  assertEquals([plan.gone, plan.unchanged], [["a"], ["b"]]);
});
