import { assertEquals, assertStringIncludes } from "@std/assert";
import { cliIn } from "../support/procsup.ts";
import { tempHome } from "../support/temp_home.ts";

/** What `docker` says of a stack with one app, one copy of which runs and one failed before. */
const DOCKER = `#!/bin/sh
spec='{"ContainerSpec":{"Image":"shop:1"},"ForceUpdate":0}'
case "$*" in
"service ls "*) echo '{"Name":"shop_api"}' ;;
"service inspect shop_api") echo '[{"ID":"s1","Spec":{"Name":"shop_api","Mode":{"Replicated":{"Replicas":1}},' \\
  '"TaskTemplate":{"ContainerSpec":{"Image":"shop:1","DNSConfig":{}},"ForceUpdate":0}}}]' ;;
"service inspect "*) exit 1 ;;
"stack ps "*) echo '{"ID":"t2","Name":"shop_api.1","Node":"two","Image":"shop:1"}'
  echo '{"ID":"t1","Name":"shop_api.1","Node":"one","Image":"shop:1"}' ;;
"inspect --type task "*) echo '[{"ID":"t2","DesiredState":"running","Status":{"State":"running"},"Spec":'$spec'},' \\
  '{"ID":"t1","DesiredState":"shutdown","Status":{"State":"failed","Err":"exit (7)"},"Spec":'$spec'}]' ;;
"stack deploy "*) cp "$(echo "$*" | sed 's/.*-c \\([^ ]*\\) .*/\\1/')" "$SAID" ;;
"stack rm "*) ;;
*) echo "unexpected: $*" >&2; exit 9 ;;
esac
`;

Deno.test("--on swarm lists, explains and applies by what docker says", async () => {
  await using folder = tempHome();
  const file = `${folder.path}/procsup.yaml`;
  Deno.writeTextFileSync(`${folder.path}/docker`, DOCKER, { mode: 0o755 });
  Deno.writeTextFileSync(file, "processes: { api: { command: sleep 1000 } }\n");
  const said = `${folder.path}/deployed.yaml`;
  const env = { PATH: `${folder.path}:${Deno.env.get("PATH")}`, SAID: said };
  const on = (...words: string[]) =>
    cliIn(`${folder.path}/h`, env, ...words, "--on", "swarm", "--stack", "shop");
  const list = await on("list", "-o", "json");
  assertEquals(
    JSON.parse(list.stdout).map((
      { name, state, node }: Record<string, string>,
    ) => [name, state, node]),
    [["api.1", "running", "two"]],
    list.stderr,
  );
  assertStringIncludes((await on("why", "api")).stdout, "shop_api.1 on one: exit (7)");
  const up = await on("up", file, "--image", "shop:1");
  assertEquals([up.code, up.stdout], [0, "✔ api  1 of 1 running\n"], up.stderr);
  assertStringIncludes(Deno.readTextFileSync(said), "procsup.yaml");
  assertEquals((await on("down")).stdout, "✔ api  deleted\n");
  const unknown = await on("scale", "apo", "2");
  assertEquals(unknown.code, 4);
  assertStringIncludes(unknown.stderr, "It has api");
  const watch = await on("list", "--watch");
  assertEquals(watch.code, 2);
  assertStringIncludes(watch.stderr, "--watch has no meaning with --on");
});
