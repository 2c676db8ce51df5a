/** The public interface of the package. */

import { fromFileUrl } from "@std/path";
import { assertEquals, assertStringIncludes } from "@std/assert";
import type { KeyTable } from "../../src/model/key_table.ts";
import { WEB_KEYS, WEBHOOK_KEYS } from "../../src/model/settings_keys.ts";
import { tempHome } from "../support/temp_home.ts";

const ROOT = fromFileUrl(import.meta.resolve("../../"));
const ENTRIES = ["src/mod.ts", "src/client.ts", "src/config_entry.ts"];

/** A value with every key of a table: its default, or one of its type. */
function everyKey(table: KeyTable): Record<string, unknown> {
  const entries = Object.entries(table).map(([key, row]) => {
    if (row.type !== "object") return [key, row.default ?? "text"];
    return [key, row.exactlyOne ? { env: "NAME" } : everyKey(row.keys)];
  });
  return Object.fromEntries(entries);
}

async function deno(args: string[], cwd = ROOT, env = {}): Promise<{ code: number; text: string }> {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args,
    cwd,
    env: { NO_COLOR: "1", ...env },
    stdin: "null",
  }).output();
  const decoder = new TextDecoder();
  return { code, text: decoder.decode(stdout) + decoder.decode(stderr) };
}

Deno.test("every public symbol is documented, and its types are public too", async () => {
  // Each entry alone: a type exported by one is not public in another.
  for (const entry of ENTRIES) {
    const { code, text } = await deno(["doc", "--lint", entry]);
    assertEquals(code, 0, text);
  }
});

Deno.test("a program with stricter options than ours can link the library", async () => {
  await using folder = tempHome();
  const strict = ["exactOptionalPropertyTypes", "noImplicitReturns", "noUncheckedIndexedAccess"];
  const compilerOptions = Object.fromEntries(strict.map((option) => [option, true]));
  const links = [ROOT];
  Deno.writeTextFileSync(`${folder.path}/deno.json`, JSON.stringify({ compilerOptions, links }));
  const imports = ["", "/client", "/config"].map((entry) => `import "@procsup/procsup${entry}";`);
  Deno.writeTextFileSync(`${folder.path}/main.ts`, imports.join("\n"));
  const { code, text } = await deno(["check", "main.ts"], folder.path);
  assertEquals(code, 0, text);
});

Deno.test("the examples in the documentation run as printed", async () => {
  await using folder = tempHome();
  const words = ["test", "-A", "--doc", "--no-check", ...ENTRIES];
  const { code, text } = await deno(words, ROOT, { TMPDIR: folder.path });
  assertEquals(code, 0, text);
  assertStringIncludes(text, "2 passed");
});

Deno.test("defineConfig checks the keys of a file", async () => {
  await using home = tempHome();
  const entry = import.meta.resolve("../../src/config_entry.ts");
  const write = (name: string, body: string) => {
    const text =
      `import { defineConfig } from "${entry}";\nexport default defineConfig(${body});\n`;
    Deno.writeTextFileSync(`${home.path}/${name}.ts`, text);
  };
  const all = (table: KeyTable) => JSON.stringify(everyKey(table));
  write(
    "good",
    `{
    version: 1,
    defaults: { restart_policy: "always", env: { camelCase: "kept" } },
    processes: {
      api: {
        script: "api.ts",
        stop_timeout: "5s",
        max_memory: "512MB",
        success_exit_codes: [0, 3],
        depends_on: { db: "healthy" },
        health_check: { type: "http", url: "http://127.0.0.1/", grace_period: "1s" },
        hooks: { pre_start: "true", pre_healthcheck: "true", post_stop: { command: "true", ignore_failure: true } },
        log: { max_size: "1MB", max_files: 2 },
        watch: ["src"],
      },
    },
    web: ${all(WEB_KEYS)},
    webhooks: [${all(WEBHOOK_KEYS)}],
    cron: [{ name: "tidy", schedule: "0 3 * * *", command: "rm -rf cache" }],
    profiles: { dev: { processes: { api: { instances: 1 } } } },
  }`,
  );
  const bad = {
    unknown: "restartPolicy: 'always'",
    value: "restart_policy: 'sometimes'",
    type: "instances: 'two'",
  };
  for (const [name, line] of Object.entries(bad)) {
    write(name, `{ processes: { api: { script: "x", ${line} } } }`);
  }
  const names = ["good", ...Object.keys(bad)];
  const { text } = await deno(["check", ...names.map((name) => `${name}.ts`)], home.path);
  const errors = text.matchAll(/^(TS\d+ [^]*?)\n +at file:\S+\/(\w+)\.ts:/gm).toArray();
  assertEquals(errors.map(([, , name]) => name).toSorted(), Object.keys(bad).toSorted(), text);
  for (const [, message, name] of errors) {
    assertStringIncludes(message!, bad[name as keyof typeof bad].split(":")[0]!);
  }
});
