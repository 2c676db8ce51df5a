/** Output as apps write it: prompts, progress bars, bytes that are no text. With the real program. */

import { assertEquals } from "@std/assert";
import { programWords, TestDaemon } from "../support/procsup.ts";
import { tempHome } from "../support/temp_home.ts";
import { readUntil, waitFor } from "../support/wait_for.ts";

const daemon = TestDaemon.ofFile();

function spawned(args: readonly string[]): Deno.ChildProcess {
  const [program, ...words] = [...programWords(), ...args];
  return new Deno.Command(program!, {
    args: words,
    env: { NO_COLOR: "1" },
    stdin: "null",
    stdout: "piped",
    stderr: "null",
  }).spawn();
}

/** Asks, waits for the file `go`, and answers itself on the same line. */
const ASKS =
  "printf 'Name: '; until [ -e go ]; do sleep 0.1; done; echo Ada; printf 'é %%'; exec sleep 1000";

Deno.test("run shows a prompt before its line has ended, and goes on with the line", async () => {
  await using temp = tempHome();
  const run = spawned(["run", "--home", temp.path, "--cwd", temp.path, "--", "sh", "-c", ASKS]);
  const output = run.stdout.pipeThrough(new TextDecoderStream()).getReader();
  assertEquals(await readUntil(output, "Name: "), "Name: ");
  Deno.writeTextFileSync(`${temp.path}/go`, "");
  assertEquals(await readUntil(output, "é %"), "Ada\né %");
  run.kill("SIGTERM");
  assertEquals(await output.read(), { done: false, value: "\n" });
  await output.cancel();
  await run.status;
});

Deno.test("logs -f shows a prompt of one app, and another app's lines do not run into it", async () => {
  const cwd = daemon.home;
  await daemon.startScript("asks", ASKS, { cwd });
  await daemon.startScript(
    "talks",
    "until [ -e talk ]; do sleep 0.1; done; echo hello; exec sleep 1000",
    { cwd },
  );
  const follows = spawned(["logs", "-f", "--home", daemon.home]);
  const output = follows.stdout.pipeThrough(new TextDecoderStream()).getReader();
  await readUntil(output, "asks  | Name: ");
  Deno.writeTextFileSync(`${cwd}/talk`, "");
  await readUntil(output, "\ntalks | hello\n");
  Deno.writeTextFileSync(`${cwd}/go`, "");
  await readUntil(output, "asks  | Ada\nasks  | é %");
  follows.kill("SIGTERM");
  await output.cancel();
  await follows.status;
});

Deno.test("logs --raw prints a log byte for byte", async () => {
  const every = Uint8Array.from({ length: 256 }, (_, byte) => byte);
  const long = new Uint8Array(200_000).fill(0xe9);
  const text = new TextEncoder().encode("a\r\nb\r\n10%\r20%\n\n\xe9\u{1f600}\n");
  const bytes = new Uint8Array([...text, ...every, 10, ...long, 10, ...text, 0xff, 13]);
  Deno.writeFileSync(`${daemon.home}/bytes`, bytes);
  await daemon.startScript("app", "cat bytes; exec sleep 1000", { cwd: daemon.home });
  const log = `${daemon.home}/apps/app/stdout.log`;
  await waitFor(() => Deno.statSync(log).size === bytes.length);
  const { stdout } = await spawned(["logs", "app", "--raw", "-n", "0", "--home", daemon.home])
    .output();
  assertEquals(stdout, bytes);
  const last = await spawned(["logs", "app", "--raw", "-n", "2", "--home", daemon.home]).output();
  assertEquals(last.stdout, bytes.subarray(-9));
});
