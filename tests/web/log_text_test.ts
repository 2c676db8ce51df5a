/** Huge, odd and hostile text in logs. */

import { assert, assertEquals, assertMatch } from "@std/assert";
import { programLine } from "../support/procsup.ts";
import { seeded } from "../support/seeded.ts";
import { waitFor } from "../support/wait_for.ts";
import { TestWeb } from "../support/web.ts";

const P = "/api/v1/processes";
const MIB = 1024 * 1024;

const web = TestWeb.ofFile();
const { daemon } = web;

Deno.test("web reads a line of 160 MiB without buffering it", async () => {
  await using web = await TestWeb.start();
  using feed = await web.feed();
  // The modules that a first request loads do not count.
  await web.daemon.startScript("small", "echo x");
  const ways = (name: string) => [
    ...["", "?lines=10000", "?timestamps=true", "?grep=zebra"].map((q) => `${P}/${name}/logs${q}`),
    `/api/v1/logs?target=${name}&lines=10000`,
  ];
  for (const path of ways("small")) assertEquals((await web.ask("GET", path)).status, 200);
  feed.send({ type: "subscribe", topics: ["logs"], target: "small", lines: 1 });
  await waitFor(() => feed.of("log").length > 0);
  const before = web.memory();
  let most = before;
  const watch = setInterval(() => most = Math.max(most, web.memory()), 20);
  await web.daemon.startScript("huge", "head -c 167772160 /dev/zero | tr '\\0' x; echo", {
    log: { max_size: "1GB" },
  });
  feed.send({ type: "subscribe", topics: ["logs"], target: "huge", lines: 1 });
  await waitFor(async () => (await web.daemon.status("huge")).state === "stopped");
  for (const path of ways("huge")) {
    const { status, text } = await web.ask("GET", path);
    assertEquals(status, 200);
    assert(text.length < 8.5 * MIB, `${path}: ${text.length}`);
  }
  await waitFor(() => feed.of("log").some(({ lines }) => lines[0].name === "huge"));
  for (const text of feed.texts) assert(text.length < MIB / 2, `${text.length}`);
  clearInterval(watch);
  // How much garbage piles up is up to the runtime: less of it in scripts/faults/web_huge_log.ts, with a
  // gigabyte on an otherwise idle machine. A line that is kept anywhere takes all of its length.
  assert(most - before < 128 * MIB, `${(most - before) / MIB} MiB`);
});

Deno.test("web continues a log at the positions where it ended", async () => {
  await web.daemon.startScript("app", "seq 1 3; until [ -e go ]; do sleep 0.1; done; seq 4 5", {
    cwd: web.daemon.home,
  });
  const itemsOf = (text: string) => text.trimEnd().split("\n").map((line) => JSON.parse(line));
  await waitFor(async () => (await web.ask("GET", `${P}/app/logs`)).body.logs === "1\n2\n3\n");
  const stored = await web.ask("GET", "/api/v1/logs?target=app&lines=0&positions=true");
  const { positions: from } = itemsOf(stored.text).at(-1);
  Deno.writeTextFileSync(`${web.daemon.home}/go`, "");
  await waitFor(async () => (await web.daemon.status("app")).state === "stopped");
  const later = await web.ask("POST", "/api/v1/logs?target=app", JSON.stringify({ from }));
  const lines = itemsOf(later.text).filter((item) => "line" in item);
  assertEquals(lines.map(({ line, end }) => [line, end]), [["4", 8], ["5", 10]]);
  const wrong = await web.ask("POST", "/api/v1/logs", '{"from":{"app/stdout":-1}}');
  assertEquals([wrong.status, wrong.body.code], [400, "bad_request"]);
});

Deno.test("web returns invalid bytes as valid JSON and leaves them alone on disk", async () => {
  const octal = "\\377\\376 \\355\\240\\200 a\\000b\\r\\n \\342\\202 \\360\\237\\230\\200\\n";
  const bytes = [0xff, 0xfe, 0x20, 0xed, 0xa0, 0x80, 0x20, 0x61, 0, 0x62, 13, 10, 0x20];
  const rest = [0xe2, 0x82, 0x20, 0xf0, 0x9f, 0x98, 0x80, 10];
  await web.daemon.startScript("odd", `printf '${octal}'`);
  const path = `${web.daemon.home}/apps/odd/stdout.log`;
  await waitFor(() => Deno.readFileSync(path).length === bytes.length + rest.length);
  assertEquals([...Deno.readFileSync(path)], [...bytes, ...rest]);
  const { body } = await web.ask("GET", `${P}/odd/logs`);
  assert(body.logs.includes("\ufffd") && body.logs.isWellFormed(), JSON.stringify(body.logs));
  assert(body.logs.includes("a\0b\r\n") && body.logs.endsWith("😀\n"), JSON.stringify(body.logs));
});

Deno.test("web returns any bytes as the same well-formed lines on every surface", async () => {
  const random = seeded();
  const bytes = Uint8Array.from({ length: 60_000 }, () => 256 * random());
  // Lines of all lengths, none of which is split; the last one has a newline.
  for (let at = bytes.length - 1; at > 0; at -= 1 + bytes[at - 1]!) bytes[at] = 10;
  const source = `${web.daemon.home}/source`;
  await Deno.writeFile(source, bytes);
  await web.daemon.startScript("fuzz", `cat ${source}`);
  const path = `${web.daemon.home}/apps/fuzz/stdout.log`;
  await waitFor(() => Deno.readFileSync(path).length === bytes.length);
  assertEquals(Deno.readFileSync(path), bytes);
  const { text } = await web.ask("GET", "/api/v1/logs?target=fuzz&lines=10000");
  const lines: string[] = text.trimEnd().split("\n").map((one) => JSON.parse(one).line);
  assertEquals(lines.length, bytes.filter((byte) => byte === 10).length);
  assert(lines.every((line) => line.isWellFormed()));
  const { body } = await web.ask("GET", `${P}/fuzz/logs?lines=10000`);
  assert(body.logs.isWellFormed());
  assertEquals(body.logs, new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes));
  using feed = await web.feed();
  feed.send({ type: "subscribe", topics: ["logs"], target: "fuzz", lines: 10_000 });
  const sent = () => feed.of("log").flatMap((message) => message.lines);
  await waitFor(() => sent().length === lines.length);
  assertEquals(sent().map(({ line }) => line), lines);
  const { stdout } = await web.daemon.cli("logs", "fuzz", "-n", "10000", "-o", "jsonl");
  const printed = stdout.trimEnd().split("\n").map((one) => JSON.parse(one).line);
  assertEquals(printed, lines);
});

Deno.test("web treats hostile text as text, and terminals obey none of it", async () => {
  const hostile = "\\033]52;c;ZXZpbA==\\007 \\033[31mred\\033[0m <img src=x onerror=alert(1)>\\n";
  await web.daemon.startScript("evil", `printf '${hostile}'; exec sleep 1000`);
  await waitFor(async () => (await web.ask("GET", `${P}/evil/logs`)).body.logs !== "");
  const answer = await web.ask("GET", `${P}/evil/logs`);
  assertEquals(answer.headers.get("content-type"), "application/json");
  assertEquals(answer.headers.get("x-content-type-options"), "nosniff");
  assert(answer.body.logs.includes("<img src=x onerror=alert(1)>"));
  const stdout = await onTerminal(web.daemon.home, "logs evil");
  assertMatch(stdout, /red.*<img src=x/);
  assert(!stdout.includes("\x1b]52"), JSON.stringify(stdout));
  const refused = await web.ask("POST", P, {
    ...{ name: "<script>alert(1)</script>", entrypoint: "/bin/true", cwd: "/" },
  });
  assertEquals([refused.status, refused.body.code], [422, "invalid_config"]);
});

Deno.test("no command passes control sequences of others to a terminal, and JSON loses nothing", async () => {
  const evil = "\x1b]52;c;ZXZpbA==\x07\x1b[2J\x9b31mred\x9d0;t\x9c";
  const log = `${evil} end`;
  await daemon.startScript("named", `printf '%s\\n' "$0"; exec sleep 1000`, {
    ...{ tags: [`a${evil}`, "b"], namespace: "n", labels: { owner: evil }, env: { EVIL: evil } },
    args: ["-c", `printf '%s\\n' "$0"; exec sleep 1000`, log],
  });
  await waitFor(async () => (await daemon.cli("logs", "named")).stdout.includes("end"));
  for (
    const words of [
      ...["status named", "why named", "list -o wide", "list -o yaml", "status named --json"],
      ...["logs named", "logs named --json", "events named --since 1h", "list -o jsonl"],
      "events named --since 1h --json",
    ]
  ) {
    const shown = await onTerminal(daemon.home, words);
    assertMatch(shown, /named|end/);
    // Colors of the state, and line endings that a terminal adds.
    // deno-lint-ignore no-control-regex
    const left = shown.replace(/\x1b\[\d*m|\r\n/g, "\n");
    // deno-lint-ignore no-control-regex
    assert(!/[\x00-\x08\x0b-\x1f\x7f-\x9f]/.test(left), `${words}: ${JSON.stringify(shown)}`);
  }
  const { stdout: status } = await daemon.cli("status", "named", "--json");
  assertEquals(JSON.parse(status).tags, [`a${evil}`, "b"]);
  const { stdout: logs } = await daemon.cli("logs", "named", "--json");
  assertEquals(JSON.parse(logs)[0].line, log);
  assertMatch(logs, /^[\n -~]*$/);
  assertEquals((await daemon.cli("logs", "named")).stdout, "red end\n");
  assertEquals((await daemon.cli("logs", "named", "--raw")).stdout, `${log}\n`);
  const { stdout: text } = await daemon.cli("status", "named");
  assertMatch(text, /^tags: +ared, b$/m);
});

/** A command's output on a terminal. */
async function onTerminal(home: string, words: string): Promise<string> {
  const command = `${programLine()} ${words}`;
  const { stdout } = await new Deno.Command("script", {
    args: ["-qec", command, "/dev/null"],
    env: { PROCSUP_HOME: home },
    stdin: "null",
  }).output();
  return new TextDecoder().decode(stdout);
}
