/** Releases behind a link such as `current`, which a deployment switches. */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { shellWord } from "../../src/model/shell_line.ts";
import { programLine, TestDaemon } from "../support/procsup.ts";
import { waitFor } from "../support/wait_for.ts";

const daemon = TestDaemon.ofFile();

const CONFIG = `processes:
  - { name: web, entrypoint: ./app.sh, min_uptime: 50ms }
`;

/** Two releases, and a link to the first. */
function releases(folder: string): { readonly link: string; switchTo(release: string): void } {
  const link = `${folder}/current`;
  for (const name of ["one", "two"]) {
    Deno.mkdirSync(`${folder}/${name}`, { recursive: true });
    Deno.writeTextFileSync(
      `${folder}/${name}/app.sh`,
      `#!/bin/sh\necho ${name}; exec sleep 1000\n`,
      {
        mode: 0o755,
      },
    );
    Deno.writeTextFileSync(`${folder}/${name}/procsup.yaml`, CONFIG);
  }
  const switchTo = (release: string) => {
    Deno.symlinkSync(release, `${folder}/next`);
    Deno.renameSync(`${folder}/next`, link);
  };
  switchTo("one");
  return { link, switchTo };
}

/** Runs a command in a folder as a shell does that went there. */
async function inFolder(daemon: TestDaemon, folder: string, words: string): Promise<string> {
  const { code, stdout, stderr } = await new Deno.Command("/bin/sh", {
    args: ["-c", `cd ${shellWord(folder)} && ${programLine()} ${words}`],
    env: { PROCSUP_HOME: daemon.home, NO_COLOR: "1" },
    stdin: "null",
  }).output();
  const text = new TextDecoder();
  assertEquals(code, 0, text.decode(stderr));
  return text.decode(stdout);
}

/** Waits until the last lines of both apps are those of the release. */
async function run(daemon: TestDaemon, release: string): Promise<void> {
  for (const target of ["api", "web"]) {
    await waitFor(
      async () => (await daemon.client.call("logs", { target, lines: 1 })).logs.trim() === release,
      { what: `${target} to run release ${release}` },
    );
  }
}

Deno.test("an app started in a linked folder runs the release to which the link leads", async () => {
  const { link, switchTo } = releases(`${daemon.home}/app`);
  await inFolder(daemon, link, "start app.sh --name api --min-uptime 50ms");
  await inFolder(daemon, link, "up");
  await run(daemon, "one");

  switchTo("two");
  await inFolder(daemon, link, "restart api web");
  await run(daemon, "two");
  // The file of the new release is the same file.
  assertStringIncludes(await inFolder(daemon, link, "up -o json"), '"results": []');
  assertEquals((await daemon.status("web")).config.cwd, link);
});

Deno.test("a stale PWD is not taken for the current directory", async () => {
  const { link } = releases(`${daemon.home}/app`);
  const stale = `PWD=${shellWord(`${daemon.home}/app/two`)} ${programLine()}`;
  await inFolder(daemon, link, `--version; ${stale} start app.sh --name api --min-uptime 50ms`);
  assertEquals((await daemon.status("api")).config.cwd, `${daemon.home}/app/one`);
});
