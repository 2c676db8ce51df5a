/** Apps that are set apart: their own /tmp, a file system to read, no new rights. */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { lstatIfAny } from "../../src/platform/files/stat.ts";
import { isolationProblem, isolationWords } from "../../src/platform/launch/isolation.ts";
import { livingOf, runMark } from "../fixtures/run_members.ts";
import { TestDaemon } from "../support/procsup.ts";
import { tempHome } from "../support/temp_home.ts";
import { waitFor } from "../support/wait_for.ts";

const daemon = TestDaemon.ofFile();

const ALL = { noNewPrivs: true, privateTmp: true, readOnly: true, writable: [] };

const problem = Deno.build.os === "linux" ? isolationProblem(ALL) : "not Linux";
// deno-lint-ignore no-console
if (problem !== undefined) console.log(`skipped: isolation (${problem})`);

/** What it may do, as lines; then it waits, and ends with code 7 at SIGTERM. */
const LOOK = `trap 'exit 7' TERM
try() { (eval "$2") 2>/dev/null && echo "$1 yes" || echo "$1 no"; }
try system ': >/etc/procsup-test'
try writable ': >"$FOLDER/made"'
try beside ': >"$FOLDER-not"'
try tmp ': >/tmp/procsup-test.$$'
try others '[ -n "$(ls -A /tmp | grep -v ^procsup-test)" ]'
try null ': >/dev/null'
try rights 'grep -q "NoNewPrivs:.1" /proc/self/status'
echo end
while :; do sleep 0.05; done`;

Deno.test("an isolated app keeps its pid, its signals and its exit code, over a killed daemon", {
  ignore: problem !== undefined,
}, async () => {
  await using temp = tempHome();
  const FOLDER = `${temp.path}/data`;
  Deno.mkdirSync(FOLDER);
  const look = async (name: string, keys: Record<string, unknown>) => {
    await daemon.startScript(name, LOOK, { env: { FOLDER }, ...keys });
    const log = () => Deno.readTextFileSync(`${daemon.home}/apps/${name}/stdout.log`);
    await waitFor(() => log().endsWith("end\n"), { what: "the end of its look" });
    return Object.fromEntries(log().trim().split("\n").map((line) => line.split(" ")));
  };
  const readable = await look("readable", { read_only: true, writable: [FOLDER] });
  const { system, writable, beside, tmp, null: nothing, others } = readable;
  assertEquals([system, writable, beside, tmp, nothing], ["no", "yes", "no", "no", "yes"]);
  assertEquals([others, readable.rights], ["yes", "no"]);
  Deno.symlinkSync(FOLDER, `${temp.path}/link`);
  const linked = await look("linked", { read_only: true, writable: [`${temp.path}/link`] });
  assertEquals([linked.writable, linked.beside], ["yes", "no"]);
  const apart = await look("apart", { private_tmp: true, no_new_privs: true });
  assertEquals([apart.tmp, apart.others, apart.rights], ["yes", "no", "yes"]);
  if (Deno.uid() === 0) {
    const nobody = await look("nobody", {
      ...{ uid: "nobody", private_tmp: true, no_new_privs: true, read_only: true },
    });
    assertEquals([nobody.system, nobody.tmp, nobody.others], ["no", "yes", "no"]);
    // The user of the app can make a link lead anywhere.
    const theirs = `${temp.path}/theirs`;
    Deno.mkdirSync(theirs);
    Deno.symlinkSync("/etc", `${theirs}/data`);
    Deno.chownSync(theirs, 65534, 65534);
    assertEquals(
      isolationProblem({ ...ALL, privateTmp: false, writable: [`${theirs}/data`] }),
      `writable path "${theirs}/data" leads over a link, and another user can change where: ` +
        `"${theirs}" belongs to user 65534`,
    );
  }
  const { pid } = await daemon.status("apart");
  const mark = await runMark(pid);
  await daemon.kill();
  await daemon.revive();
  assertEquals((await daemon.status("apart")).pid, pid);
  assertEquals((await daemon.cli("stop", "all")).code, 0);
  for (const name of ["readable", "apart"]) {
    const { state, last_exit } = await daemon.status(name);
    assertEquals([state, last_exit?.code, last_exit?.signal], ["stopped", 7, null]);
  }
  assertEquals(livingOf(mark), []);
  assertEquals(lstatIfAny(`/tmp/procsup-test.${pid}`), undefined);
});

Deno.test("an app does not run when a part of its isolation fails", {
  ignore: problem !== undefined,
}, () => {
  // Removed since it was checked.
  const words = isolationWords({ ...ALL, privateTmp: false, writable: ["/missing"] });
  const [program, ...args] = [...words, "/bin/echo", "it runs"];
  const { code, stdout } = new Deno.Command(program!, { args, stderr: "null" }).outputSync();
  assertEquals([code, new TextDecoder().decode(stdout)], [126, ""]);
});

Deno.test("isolation that cannot be given is refused, by start and by validate", {
  ignore: Deno.build.os !== "linux",
}, async () => {
  // On a machine where that is a tmpfs, a home for tests is in /var/tmp.
  const script = `${daemon.home}/script`;
  Deno.writeTextFileSync(script, "#!/bin/sh\nexec sleep 1000\n", { mode: 0o755 });
  const cases = [
    [{ writable: ["/tmp"] }, "writable needs read_only: true"],
    [
      { read_only: true, private_tmp: true, writable: ["/tmp"] },
      'writable path "/tmp" is hidden by private_tmp',
    ],
    [{ private_tmp: true, watchdog: "1m" }, "watchdog needs a home that private_tmp does not hide"],
    [{ private_tmp: true, wait_ready: true }, "wait_ready needs a home that private_tmp does not"],
    [{ private_tmp: true, command: script }, `private_tmp hides "${script}"`],
    [{ read_only: true, writable: ["/missing/x"] }, 'writable path "/missing/x" does not exist'],
  ] as const;
  for (const [keys, told] of cases) {
    const file = `${daemon.home}/procsup.yaml`;
    const app = { command: "/bin/sleep 1000", ...keys };
    Deno.writeTextFileSync(file, JSON.stringify({ processes: { app } }));
    const up = await daemon.cli("up", file);
    assertEquals(up.code, 2, up.stderr);
    assertStringIncludes(up.stderr, told);
    const validate = await daemon.cli("config", "validate", file);
    assertStringIncludes(validate.stdout + validate.stderr, told);
  }
});
