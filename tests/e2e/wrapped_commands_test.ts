/** Commands inside other commands, as people write them: found again, signalled, ended as a whole. */

import { assertEquals } from "@std/assert";
import { livingOf, parentOf, type RunMark, runMark } from "../fixtures/run_members.ts";
import { isInstalled } from "../support/installed.ts";
import { TestDaemon } from "../support/procsup.ts";

/** Ends with code 7 at SIGTERM. */
const APP = "trap 'exit 7' TERM; while :; do sleep 0.05; done";

type Exit = readonly [code: number, signal: string | null];
const OWN: Exit = [7, null];
const TERM: Exit = [143, "SIGTERM"];
const KILL: Exit = [137, "SIGKILL"];

interface Case {
  readonly name: string;
  readonly argv: readonly string[];
  readonly exit: Exit;
  readonly rootOnly?: boolean;
}

const CASES: readonly Case[] = [
  { name: "two-jobs", argv: ["sh", "-c", "sleep 1000 & sleep 1000 & wait"], exit: TERM },
  { name: "other-name", argv: ["bash", "-c", "exec -a strange sleep 1000"], exit: TERM },
  { name: "setsid", argv: ["setsid", "-w", "sh", "-c", APP], exit: OWN },
  { name: "nohup", argv: ["nohup", "sh", "-c", APP], exit: OWN },
  { name: "timeout", argv: ["timeout", "1000", "sh", "-c", APP], exit: OWN },
  { name: "nice", argv: ["nice", "-n", "5", "sh", "-c", APP], exit: OWN },
  { name: "no-environment", argv: ["env", "-i", "sh", "-c", APP], exit: OWN },
  {
    name: "hidden-job",
    argv: ["sh", "-c", "env -i setsid sleep 1000 & exec sleep 1000"],
    exit: TERM,
  },
  { name: "tini", argv: ["tini", "--", "sh", "-c", APP], exit: OWN },
  { name: "dumb-init", argv: ["dumb-init", "sh", "-c", APP], exit: OWN },
  { name: "script", argv: ["script", "-qec", "sleep 1000", "/dev/null"], exit: [0, null] },
  { name: "closed", argv: ["bash", "-c", "exec 0<&- 1>&- 2>&-; exec sleep 1000"], exit: TERM },
  {
    name: "runuser",
    argv: ["runuser", "-u", "nobody", "--", "sleep", "1000"],
    exit: TERM,
    rootOnly: true,
  },
  { name: "sudo", argv: ["sudo", "-u", "nobody", "sleep", "1000"], exit: TERM, rootOnly: true },
  // The first process of a namespace gets no signal that it does not handle.
  {
    name: "namespace",
    argv: ["unshare", "--pid", "--fork", "--kill-child", "sleep", "1000"],
    exit: KILL,
    rootOnly: true,
  },
];

Deno.test("commands in other commands keep their pids over a killed daemon, and leave nothing", {
  ignore: Deno.build.os !== "linux",
}, async () => {
  const isRoot = Deno.uid() === 0;
  const here = CASES.filter(({ argv: [program], rootOnly }) =>
    isInstalled(program!) && (isRoot || !rootOnly)
  );
  const missing = CASES.filter((one) => !here.includes(one)).map(({ name }) => name);
  // deno-lint-ignore no-console
  if (missing.length > 0) console.log(`skipped: ${missing.join(", ")}, not installed or not root`);
  await using daemon = await TestDaemon.start();
  const marks = new Map<string, RunMark>();
  const pids = new Map<string, number>();
  await Promise.all(here.map(async ({ name, argv: [entrypoint, ...args], exit }) => {
    const keys = { cwd: "/", min_uptime: "200ms", stop_timeout: exit === KILL ? "500ms" : "20s" };
    await daemon.client.call("start", { name, entrypoint, args, ...keys });
    const { pid } = await daemon.status(name);
    pids.set(name, pid);
    marks.set(name, await runMark(parentOf(pid)));
  }));
  await daemon.kill();
  await daemon.revive();
  for (const { name } of here) {
    const { state, pid, restarts } = await daemon.status(name);
    assertEquals([name, state, pid, restarts], [name, "running", pids.get(name), 0]);
  }
  const { code, stderr } = await daemon.cli("stop", "all");
  assertEquals(code, 0, stderr);
  for (const { name, exit } of here) {
    const { last_exit } = await daemon.status(name);
    assertEquals([name, last_exit?.code, last_exit?.signal], [name, ...exit]);
    assertEquals([name, ...livingOf(marks.get(name)!)], [name]);
  }
});
