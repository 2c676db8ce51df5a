import { assert, assertEquals, assertRejects } from "@std/assert";
import { loadConfig } from "../../config/load_config.ts";
import { ENGINES } from "../engines.ts";
import { exportStack } from "../export_stack.ts";
import { exportText } from "./exporting.ts";

const FILE = "/srv/shop/procsup.yaml";

const TEXT = `
defaults: { env: { REGION: "\${REGION:-eu}" } }
processes:
  api:
    command: /bin/sh api.sh --token=s3cr3t-1 \${TOKEN} --password=\${PASSWORD:-s3cr3t-9}
    env:
      PLAIN: visible
      DB: "\${DATABASE_URL}"
      API_KEY: s3cr3t-2
      URL: postgres://shop:s3cr3t-3@db/shop
    secrets:
      PW: { env: SHOP_PW }
      CERT: { file: cert.pem }
      VAULT: { command: "vault read s3cr3t" }
    hooks: { post_start: "curl -H 'Authorization: Bearer s3cr3t-4' http://127.0.0.1" }
`;

const ENV = {
  REGION: "s3cr3t-5",
  TOKEN: "s3cr3t-6",
  DATABASE_URL: "s3cr3t-7",
  SHOP_PW: "s3cr3t-8",
};

Deno.test("exportStack() writes no value of a secret, a variable, or anything that looks like a secret", async () => {
  const loaded = await loadConfig({
    ...{ files: [FILE], content: { file: FILE, text: TEXT }, env: ENV },
  });
  for (const to of [...ENGINES, "dockerfile"] as const) {
    const { files, stack } = exportStack({ to, file: FILE, loaded });
    const text = files.map((file) => file.text).join("\n");
    assertEquals(/s3cr3t-\d/.exec(text), null, `${to}: ${text}`);
    assertEquals(/s3cr3t-\d/.exec(JSON.stringify(stack.losses)), null, to);
    if (to !== "dockerfile") assert(text.includes("visible"), to);
  }
});

Deno.test("exportStack() names every variable that the engine must provide", async () => {
  const loaded = await loadConfig({
    ...{ files: [FILE], content: { file: FILE, text: TEXT }, env: {}, assumeVariables: true },
  });
  const text = (to: "kubernetes" | "swarm" | "nomad" | "systemd") =>
    exportStack({ to, file: FILE, loaded }).files.map((file) => file.text).join("\n");
  for (const engine of ["kubernetes", "swarm", "nomad"] as const) {
    for (const name of ["TOKEN", "DATABASE_URL", "SHOP_PW", "REGION", "/app/cert.pem"]) {
      assert(text(engine).includes(name), `${engine}: ${name}`);
    }
  }
  for (const name of ["DB", "PW", "CERT", "VAULT", "TOKEN", "API_KEY", "REGION"]) {
    assert(new RegExp(`must set: .*\\b${name}\\b`).test(text("systemd")), `systemd: ${name}`);
  }
});

Deno.test("a unit keeps the argument after a flag that has a secret as its value", async () => {
  const command = "/bin/sh api.sh --token=s3cr3t-1 serve --password s3cr3t-2";
  const { files: [unit] } = await exportText(
    `processes: { api: { command: ${command} } }`,
    "systemd",
  );
  assert(unit!.text.includes("api.sh ${ARGUMENT_1} serve --password ${ARGUMENT_4}\n"), unit!.text);
  assert(unit!.text.includes("must set: ARGUMENT_1, ARGUMENT_4\n"), unit!.text);
});

Deno.test("exportStack() rejects two secret files with the same name on engines", async () => {
  const text = "processes: { app: { command: /bin/sh run.sh, env_file: [a.env, a-env] } }";
  await assertRejects(() => exportText(text, "swarm"), Error, 'are both "app-a-env" there');
  assertEquals((await exportText(text, "systemd")).files.length, 2);
});

Deno.test("an image takes along no file that the configuration names as secret, and names secrets in the file", async () => {
  const folder = Deno.makeTempDirSync({ prefix: "image-" });
  try {
    Deno.mkdirSync(`${folder}/keys`);
    Deno.mkdirSync(`${folder}/base`);
    Deno.writeTextFileSync(`${folder}/keys/v2.pem`, "");
    Deno.symlinkSync("keys/v2.pem", `${folder}/web.key`);
    Deno.writeTextFileSync(`${folder}/base/procsup.yaml`, "processes: {}\n");
    const file = `${folder}/procsup.yaml`;
    const text = `
extends: base/procsup.yaml
web: { tls: { cert: web.pem, key: web.key } }
webhooks:
  ops: { url: "https://hooks.example.com/s3cr3t", secret: { file: "ops[1].key" } }
  own: { url: "\${HOOK_URL}", secret: { env: HOOK_KEY } }
processes:
  api:
    entrypoint: sleep
    args: [--password, s3cr3t]
    env: { API_KEY: s3cr3t, PORT: "80", TOKEN: "\${TOKEN}" }
    env_file: app.env
    secrets: { CERT: { file: cert.pem } }
    health_check: { type: http, url: "http://u:s3cr3t@127.0.0.1:80/" }
`;
    const env = { HOOK_URL: "https://hooks.example.com/filled", TOKEN: "filled" };
    const loaded = await loadConfig({ files: [file], content: { file, text }, env });
    const { files, stack } = exportStack({ to: "dockerfile", file, loaded });
    const secret = ["app.env", "cert.pem", "web.key", "keys/v2.pem", "ops[1].key"];
    const [dockerfile, ignored] = files.map((file) => file.text);
    const removed = /^RUN rm -rf (.*)$/m.exec(dockerfile!)![1]!;
    for (const path of [...secret, ".env", "base/.env"]) {
      assert(removed.includes(`'/app/${path}'`), `${path}: ${removed}`);
    }
    assert(!removed.includes("web.pem"), removed);
    assert(ignored!.includes("/keys/v2.pem\n/ops\\[1\\].key\n"), ignored);
    assertEquals(stack.losses.map(({ app, key }) => [app, key]), [
      ...["args.1", "env.API_KEY", "health_check.url"].map((key) => ["api", key]),
      [undefined, "webhooks.ops.url"],
    ]);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
});

Deno.test("exportStack() refuses a text that an engine would not read as one value", async () => {
  const app = (keys: string) => `processes: { app: { command: /bin/sh run.sh, ${keys} } }`;
  const refused: readonly [text: string, named: string][] = [
    [app('env_file: "a\\nRUN id"'), "env_file"],
    [app('secrets: { A: { file: "a\\nRUN id" } }'), "secrets.A.file"],
    [app('secrets: { A: { env: "A }}{{ env `HOME`" } }'), "secrets.A.env"],
    [app('cwd: "api\\\\"'), "cwd"],
    [app('uid: "me\\\\"'), "uid"],
    [app('inherit_env: ["A\\\\"]'), "inherit_env.0"],
    [app('namespace: "a\\nb"'), "namespace"],
  ];
  for (const [text, named] of refused) {
    for (const to of [...ENGINES, "dockerfile"] as const) {
      const error = await assertRejects(() => exportText(text, to), Error);
      assert(error.message.includes(named), `${to}: ${error.message}`);
    }
  }
  await assertRejects(
    () => exportText(app("nice: 1"), "systemd", { profile: "a\nb" }),
    Error,
    "--profile",
  );
});
