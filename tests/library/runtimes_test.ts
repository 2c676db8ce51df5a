// deno-lint-ignore-file no-console
/** `./client` from its source under Deno, and from the npm package under Node.js and Bun. */

import { fromFileUrl } from "@std/path";
import { assertEquals } from "@std/assert";
import { bundle } from "../../scripts/compile/bundle.ts";
import { TestDaemon } from "../support/procsup.ts";
import { tempHome } from "../support/temp_home.ts";

const ROOT = fromFileUrl(import.meta.resolve("../../"));
const SOURCE = `${ROOT}src/client.ts`;

const ONCE = [
  '["running",true,1]',
  '[{"code":3,"stdout":"out","stderr":"err"}]',
  '["hi","stdout",true]',
  '["asked",true]',
  "[[]]",
  '[true,"process_not_found"]',
  '[true,"invalid_config"]',
];
/** Over the socket, over the URL, and without a daemon. */
const EXPECTED = [...ONCE, ...ONCE, '[true,"daemon_unreachable"]', '[true,"timeout"]'];

/** A program's output by line; undefined when it cannot run. */
async function output(words: readonly string[]): Promise<string | undefined> {
  try {
    const { success, stdout, stderr } = await new Deno.Command(words[0]!, {
      args: words.slice(1),
      env: { NO_COLOR: "1" },
      signal: AbortSignal.timeout(60_000),
    }).output();
    const text = new TextDecoder();
    return success ? text.decode(stdout) : text.decode(stderr);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

/** The command of the first runtime available here or from npm. */
async function found(...ways: readonly (readonly string[])[]): Promise<readonly string[]> {
  for (const way of ways) {
    const version = (await output([...way, "--version"]))?.trim().split("\n").at(-1) ?? "";
    const major = Number(/^v(\d+)\.\d+\.\d+$/.exec(version)?.[1] ?? NaN);
    if (major >= 22 || /^\d+\.\d+\.\d+$/.test(version)) return way;
  }
  return [];
}

const [node, bun] = await Promise.all([
  found(["node"], ["npx", "-y", "node@22"]),
  found(["bun"], ["npx", "-y", "bun"]),
]);
for (const [name, words] of Object.entries({ "Node.js 22": node, Bun: bun })) {
  if (words.length === 0) console.log(`No ${name}, here or by npx: the client is not tested there`);
}

const RUNTIMES: readonly (readonly [string, readonly string[], string])[] = [
  ["Deno", [Deno.execPath(), "run", "-A"], "source"],
  ["Node.js", node, "package"],
  ["Bun", bun, "package"],
];

Deno.test("Client does the same under each runtime", async (t) => {
  await using daemon = await TestDaemon.start();
  await using folder = tempHome();
  const { url } = await daemon.client.call("web_start", { listen: "127.0.0.1:0" });
  const { token } = await daemon.client.call("token");
  await bundle(ROOT, SOURCE, folder.path);
  const programs = RUNTIMES.map(([, words, of], number) => {
    const module = of === "source" ? SOURCE : `${folder.path}/client.js`;
    const program = `${ROOT}tests/library/client_program.mjs`;
    if (words.length === 0) return undefined;
    return output([...words, program, module, daemon.home, url, token, String(number)]);
  });
  for (const [number, [name, words, of]] of RUNTIMES.entries()) {
    await t.step({
      name: `${name}, from the ${of}`,
      ignore: words.length === 0,
      async fn() {
        assertEquals((await programs[number])?.trim().split("\n"), EXPECTED);
      },
    });
  }
});
