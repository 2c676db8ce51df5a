import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { mayMount } from "../../../tests/support/executable.ts";
import { outputOf, type Ran } from "../../../tests/support/output_of.ts";
import { cliIn, isAlive, programWords } from "../../../tests/support/procsup.ts";
import { tempHome } from "../../../tests/support/temp_home.ts";

/** Recorded `docker` output for a stack with one app: one replica runs, one failed earlier. */
const DOCKER = `#!/bin/sh
args='"Args":["run","--single","api"]'
spec='{"ContainerSpec":{"Image":"shop:1",'$args'},"ForceUpdate":0}'
case "$*" in
"service ls "*=traefik" "*) echo '{"Name":"traefik_proxy"}' ;;
"service ls "*) echo '{"Name":"shop_api"}' ;;
"service inspect traefik_proxy") echo '[{"Spec":{"Name":"traefik_proxy","Mode":{},"TaskTemplate":{"ContainerSpec":{}}}}]' ;;
"service inspect shop_api") echo '[{"ID":"s1","Spec":{"Name":"shop_api","Mode":{"Replicated":{"Replicas":1}},' \\
  '"TaskTemplate":{"ContainerSpec":{"Image":"shop:1",'$args',"DNSConfig":{}},"ForceUpdate":0}}}]' ;;
"service inspect "*) exit 1 ;;
"stack ps "*) echo '{"ID":"t2","Name":"shop_api.1","Node":"two","Image":"shop:1"}'
  echo '{"ID":"t1","Name":"shop_api.1","Node":"one","Image":"shop:1"}' ;;
"inspect --type task "*) echo '[{"ID":"t2","DesiredState":"running","Status":{"State":"running"},"Spec":'$spec'},' \\
  '{"ID":"t1","DesiredState":"shutdown","Status":{"State":"failed","Err":"exit (7)"},"Spec":'$spec'}]' ;;
"stack deploy "*" -c - shop") cat >"$SAID" ;;
"stack rm "*) ;;
*) echo "unexpected: $*" >&2; exit 9 ;;
esac
`;

Deno.test("--on swarm lists, explains and applies from docker's output", async () => {
  await using folder = tempHome();
  const file = `${folder.path}/procsup.yaml`;
  Deno.writeTextFileSync(`${folder.path}/docker`, DOCKER, { mode: 0o755 });
  Deno.writeTextFileSync(file, "processes: { api: { command: sleep 1000 } }\n");
  const said = `${folder.path}/deployed.yaml`;
  const env = { PATH: `${folder.path}:${Deno.env.get("PATH")}`, SAID: said };
  const on = (...words: string[]) =>
    cliIn(
      `${folder.path}/h`,
      env,
      words[0]!,
      "--on",
      "swarm",
      "--stack",
      "shop",
      ...words.slice(1),
    );
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
  for (const words of [["down", "api"], ["up", file, file], ["up", "--", "sleep", "1000"]]) {
    const refused = await on(...words);
    assertEquals([refused.code, refused.stdout], [2, ""], words.join(" "));
    assertStringIncludes(refused.stderr, `"${words[0]}" on swarm takes one configuration file`);
  }
  Deno.writeTextFileSync(`${folder.path}/empty.yaml`, "processes: {}\n");
  const empty = await on("up", `${folder.path}/empty.yaml`);
  assertEquals(empty.code, 2);
  assertStringIncludes(empty.stderr, `"empty.yaml" has no apps\n  hint: To remove the stack`);
  for (const verb of ["up", "down"]) {
    const missing = await on(verb, `${folder.path}/nosuch.yaml`);
    assertEquals([missing.code, missing.stdout], [2, ""], verb);
    assertStringIncludes(missing.stderr, "/nosuch.yaml: no such file");
  }
  for (const words of [["up", file], ["down", file]]) {
    const foreign = await on(...words, "--stack", "traefik");
    assertEquals([foreign.code, foreign.stdout], [6, ""], words[0]);
    assertStringIncludes(foreign.stderr, 'Service "traefik_proxy" was not made by this stack');
  }
  assertEquals((await on("down", file)).stdout, "✔ api  deleted\n");
  const unknown = await on("scale", "apo", "2");
  assertEquals(unknown.code, 4);
  assertStringIncludes(unknown.stderr, "It has api");
  const none = await on("logs", "apo");
  assertEquals([none.code, none.stdout], [4, ""]);
  assertStringIncludes(none.stderr, 'The stack "shop" has no app "apo"');
  const watch = await on("list", "--watch");
  assertEquals(watch.code, 2);
  assertStringIncludes(watch.stderr, "Cannot use --watch on swarm");
});

/** A stack with one app that runs once. It fails after `docker stack deploy`. */
const FAILING = `#!/bin/sh
spec='{"ContainerSpec":{"Args":["run","--single","job"]},"RestartPolicy":{"Condition":"none"}}'
case "$*" in
"service ls "*) [ ! -e "$SAID" ] || echo '{"Name":"shop_job"}' ;;
"service inspect "*)
  echo '[{"Spec":{"Name":"shop_job","Mode":{"Replicated":{"Replicas":1}},"TaskTemplate":'$spec'}}]' ;;
"stack ps "*) echo '{"ID":"t1","Name":"shop_job.1","Node":"one","Image":"shop:1"}' ;;
"inspect --type task "*) echo '[{"ID":"t1","DesiredState":"shutdown",' \\
  '"Status":{"State":"failed","Err":"exit (7)"},"Spec":'$spec'}]' ;;
"stack deploy "*) cat >"$SAID" ;;
esac
`;

Deno.test("up --on swarm fails as soon as an app that runs once does, also when it is applied again", async () => {
  await using folder = tempHome();
  const { path } = folder;
  const file = `${path}/procsup.yaml`;
  Deno.writeTextFileSync(`${path}/docker`, FAILING, { mode: 0o755 });
  Deno.writeTextFileSync(file, "processes: { job: { command: 'false', restart_policy: never } }\n");
  const env = { PATH: `${path}:${Deno.env.get("PATH")}`, SAID: `${path}/deployed.yaml` };
  for (const turn of ["first", "second"]) {
    const words = ["up", file, "--on", "swarm", "--stack", "shop"];
    const { code, stderr } = await cliIn(`${path}/h`, env, ...words);
    assertEquals(code, 1, turn);
    assertStringIncludes(stderr, "✘ job  0 of 1 running: exit (7)\n", turn);
  }
});

/** A cluster with recorded answers, a foreign Deployment, and an unknown context. */
const KUBECTL = `#!/bin/sh
echo "$*" >>"$SAID"
case "$*" in
"--context=eu --namespace=shop get deployments,"*) cat "$ITEMS" ;;
"--context=eu --namespace=shop get events "*) echo '{"items":[]}' ;;
"--context=eu --namespace=shop get --ignore-not-found "*)
  echo '{"kind":"Deployment","metadata":{"name":"shop-web","uid":"1"}}' ;;
*) echo 'W1122 21:26:03.431069   21899 loader.go:223] Config not found' >&2
  echo 'no such context' >&2; echo 'no such context' >&2; exit 1 ;;
esac
`;

Deno.test("a context passes its client's context and namespace to the engine", async () => {
  await using folder = tempHome();
  const { path } = folder;
  const answers = JSON.parse(
    Deno.readTextFileSync(new URL("./kubernetes_answers.json", import.meta.url)),
  );
  Deno.writeTextFileSync(`${path}/items.json`, JSON.stringify({ items: answers.shop.items }));
  Deno.writeTextFileSync(`${path}/kubectl`, KUBECTL, { mode: 0o755 });
  Deno.writeTextFileSync(`${path}/procsup.yaml`, "processes: { web: { command: sleep 1000 } }\n");
  const said = `${path}/said`;
  const env = {
    PATH: `${path}:${Deno.env.get("PATH")}`,
    ...{ SAID: said, ITEMS: `${path}/items.json`, HOME: path, XDG_CONFIG_HOME: `${path}/.config` },
    // A named home would be on this machine.
    ...{ PROCSUP_HOME: "", PROCSUP_HOST: "", PROCSUP_ID: "" },
  };
  const run = (...words: string[]) => cliIn("", env, ...words);
  const where = ["--context", "eu", "--cluster-namespace", "shop", "--stack", "shop"];
  const added = await run("context", "add", "prod", "--on", "kubernetes", ...where);
  assertEquals(added.code, 0, added.stderr);
  await run("context", "use", "prod");
  assertStringIncludes((await run("context", "list")).stdout, "kubernetes eu shop shop");
  const list = await run("list", "worker", "--json");
  assertEquals(
    JSON.parse(list.stdout).map(({ app, ready }: Record<string, unknown>) => [app, ready]),
    [["worker", true]],
    list.stderr,
  );
  const absent = await run("list", "worker", "wokrer");
  assertEquals(absent.code, 4);
  assertStringIncludes(absent.stderr, 'The stack "shop" has no app "wokrer"');
  const stop = await run("stop", "web");
  assertEquals(stop.code, 2);
  assertStringIncludes(stop.stderr, 'Commands go to kubernetes, which has no "stop"');
  assertStringIncludes(stop.stderr, "procsup --host local stop");
  const up = await run("up", `${path}/procsup.yaml`);
  assertEquals(up.code, 6);
  assertStringIncludes(up.stderr, 'Deployment "shop-web" was not made by this stack');
  assertEquals(Deno.readTextFileSync(said).includes(" apply "), false);
  const useless = await run("up", `${path}/procsup.yaml`, "--on", "systemd", "--image", "x");
  assertEquals(useless.code, 2);
  assertStringIncludes(
    useless.stderr,
    "procsup up --on systemd takes --stack, --strict, --profile",
  );
  const reload = await run("reload", "tick");
  assertStringIncludes(reload.stderr, '"tick" is a CronJob');
  const other = await run("list", "--context", "us");
  assertEquals(other.code, 1);
  assertStringIncludes(
    other.stderr,
    '"kubectl get" failed: no such context\n  hint: procsup help beyond',
  );
  const all = await run("list", "--all-contexts", "--no-start-daemon", "--json");
  assertEquals(
    JSON.parse(all.stdout).filter((row: { context: string }) => row.context === "prod").length,
    7,
    all.stderr,
  );
  const lost = await run("--host", "local", "list", "--context", "eu");
  assertStringIncludes(lost.stderr, "Cannot use --context without an engine");
});

Deno.test("list --all-contexts ends the client of an engine that does not answer", async () => {
  await using folder = tempHome();
  const { path } = folder;
  const said = `${path}/pid`;
  const script = '#!/bin/sh\necho $$ >"$SAID"\nexec sleep 1000\n';
  Deno.writeTextFileSync(`${path}/docker`, script, { mode: 0o755 });
  const env = {
    PATH: `${path}:${Deno.env.get("PATH")}`,
    ...{ SAID: said, HOME: path, XDG_CONFIG_HOME: `${path}/.config` },
  };
  const added = await cliIn("", env, "context", "add", "prod", "--on", "swarm", "--stack", "shop");
  assertEquals(added.code, 0, added.stderr);
  const { stderr } = await cliIn(`${path}/h`, env, "list", "--all-contexts");
  assertStringIncludes(stderr, "✘ prod  prod does not answer within 15s");
  assertEquals(isAlive(Number(Deno.readTextFileSync(said))), false);
});

const SYSTEMD = {
  ignore: Deno.build.os !== "linux" || Deno.uid() !== 0 || !mayMount,
};

/** Runs a command with a folder as that of the units, and a script as `systemctl`. */
async function onSystemd(path: string, script: string, ...words: string[]): Promise<Ran> {
  Deno.writeTextFileSync(`${path}/systemctl`, script, { mode: 0o755 });
  Deno.mkdirSync(`${path}/units`, { recursive: true });
  const inside = `mount --bind ${path}/units /etc/systemd/system && exec "$@"`;
  const flags = ["--on", "systemd", "--stack", "shop"];
  return await outputOf(
    new Deno.Command("unshare", {
      args: ["-m", "sh", "-c", inside, "sh", ...programWords(), ...words, ...flags],
      env: { PATH: `${path}:${Deno.env.get("PATH")}`, SAID: `${path}/said`, NO_COLOR: "1" },
      signal: AbortSignal.timeout(60_000),
    }),
  );
}

Deno.test({
  ...SYSTEMD,
  name: "reload --on systemd of an app without copies resets no failures of other units",
  fn: async () => {
    await using folder = tempHome();
    const { path } = folder;
    Deno.mkdirSync(`${path}/units`);
    const unit = "# Written by procsup export systemd procsup.yaml.\n[Unit]\nPartOf=shop.target\n";
    Deno.writeTextFileSync(`${path}/units/shop_pair@.service`, unit);
    const script = '#!/bin/sh\necho "$*" >>"$SAID"\n';
    const { code, stdout, stderr } = await onSystemd(path, script, "reload", "pair");
    assertEquals([code, stdout], [0, "✔ pair  no copies\n"], stderr);
    const said = Deno.readTextFileSync(`${path}/said`);
    assertMatch(said, /^list-units /);
    assertEquals(/reset-failed/.exec(said), null);
  },
});

/** At the third look, the unit that waits for the other one has started. */
const WAITING = `#!/bin/sh
case "$*" in
"show --property=Id,"*) echo >>"$SAID"
  echo Id=shop_once.service; echo Type=oneshot; echo Job=1; echo InvocationID=a
  echo ActiveState=activating; echo SubState=start; echo Result=success; echo NRestarts=0; echo
  echo Id=shop_next.service; echo Type=exec; echo Result=success; echo NRestarts=0
  if [ $(wc -l <"$SAID") -lt 3 ]; then echo Job=2; echo ActiveState=inactive; echo SubState=dead
  else echo InvocationID=b; echo ActiveState=active; echo SubState=running; fi ;;
esac
`;

Deno.test({
  ...SYSTEMD,
  name:
    "up --on systemd waits for units that wait for others, and for no end of an app that runs once",
  fn: async () => {
    await using folder = tempHome();
    const file = `${folder.path}/procsup.yaml`;
    const once = { command: "/bin/sleep 1000", restart_policy: "never" };
    const next = { command: "/bin/sleep 1000", depends_on: ["once"] };
    Deno.writeTextFileSync(file, JSON.stringify({ processes: { once, next } }));
    const { code, stdout, stderr } = await onSystemd(folder.path, WAITING, "up", file);
    assertEquals([code, stdout.split("\n")], [
      0,
      ["✔ once  activating (start)", "✔ next  active (running)", ""],
    ], stderr);
  },
});

Deno.test("logs --on swarm cannot control the terminal", async () => {
  await using folder = tempHome();
  const docker = `#!/bin/sh
case "$*" in
"service ls "*) echo '{"Name":"shop_api"}' ;;
"service logs "*) printf 'a\\033]0;owned\\007b\\033[2J \\033[31mred\\033[8mhidden\\nlast' ;;
*) ${DOCKER.split("\n").slice(1).join("\n").replace("case", "true; case")}
esac
`;
  Deno.writeTextFileSync(`${folder.path}/docker`, docker, { mode: 0o755 });
  Deno.writeTextFileSync(
    `${folder.path}/procsup.yaml`,
    "processes: { api: { command: sleep 1000 } }\n",
  );
  const words = [...programWords(), "logs", "--on", "swarm", "--stack", "shop"];
  const shown = (program: string, ...args: string[]) =>
    outputOf(
      new Deno.Command(program, {
        args,
        cwd: folder.path,
        env: {
          PATH: `${folder.path}:${Deno.env.get("PATH")}`,
          PROCSUP_HOME: `${folder.path}/h`,
          NO_COLOR: "",
        },
      }),
    );
  const [program, ...args] = words;
  const piped = await shown(program!, ...args);
  assertEquals([piped.code, piped.stdout], [
    0,
    "a\x1b]0;owned\x07b\x1b[2J \x1b[31mred\x1b[8mhidden\nlast\n",
  ], piped.stderr);
  const line = words.map((word) => `'${word}'`).join(" ");
  // script may lose what is written just before the end.
  const onTerminal = await shown("script", "-qec", `${line}; sleep 0.2`, "/dev/null");
  assertEquals(onTerminal.stdout, "ab \x1b[31mredhidden\x1b[0m\r\nlast\r\n");
});
