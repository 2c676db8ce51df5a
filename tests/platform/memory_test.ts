/** Memory that is used for a short time. */

import { assert, assertEquals } from "@std/assert";
import { findRuns } from "../../src/platform/scan/found_runs.ts";
import { RunFiles } from "../../src/platform/launch/run_files.ts";
import { tempHome } from "../support/temp_home.ts";

const MB = 1024 ** 2;

/**
 * Frees most of 40 MB, in gaps between pieces that remain, because the C library keeps such gaps.
 * Waits until the system has half of it back.
 */
const PROGRAM = `
const { returnFreedMemory } = await import(Deno.args[0]);
const anonymous = () =>
  Number(/RssAnon:\\s+(\\d+)/.exec(Deno.readTextFileSync("/proc/self/status"))[1]) / 1024;
const libc = Deno.dlopen("libc.so.6", {
  malloc: { parameters: ["usize"], result: "pointer" },
  memset: { parameters: ["pointer", "i32", "usize"], result: "pointer" },
  free: { parameters: ["pointer"], result: "void" },
});
const { malloc, memset, free } = libc.symbols;
const pieces = Array.from({ length: 640 }, () => memset(malloc(65536n), 1, 65536n));
const full = anonymous();
pieces.forEach((piece, index) => index % 16 === 15 || free(piece));
if (full - anonymous() > 20) throw new Error("The C library returned it by itself");
using _memory = returnFreedMemory();
while (full - anonymous() < 20) await new Promise((resolve) => setTimeout(resolve, 10));
`;

Deno.test({
  name: "returnFreedMemory() returns freed memory that the C library keeps",
  ignore: Deno.build.os !== "linux",
  fn: async () => {
    const module = import.meta.resolve("../../src/platform/upkeep.ts");
    const { code, signal, stderr } = await new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "-A",
        "--no-config",
        "--no-lock",
        `data:text/javascript,${encodeURIComponent(PROGRAM)}`,
        module,
      ],
      stdout: "null",
      signal: AbortSignal.timeout(120_000),
    }).output();
    assertEquals([code, signal, new TextDecoder().decode(stderr)], [0, null, ""]);
  },
});

Deno.test({
  name: "a scan of other homes' processes needs no buffer for each process",
  ignore: Deno.build.os !== "linux",
  fn: async () => {
    await using home = tempHome();
    Deno.mkdirSync(`${home.path}/run`);
    const others = Array.from(
      { length: 60 },
      () =>
        new Deno.Command("sleep", { args: ["600"], env: { PROCSUP_RUN_ID: crypto.randomUUID() } })
          .spawn(),
    );
    try {
      const before = Deno.memoryUsage().external;
      await findRuns(new RunFiles(`${home.path}/run`), "boot", new Set());
      const more = Deno.memoryUsage().external - before;
      assert(more < 5 * MB, `${Math.round(more / MB)} MB for 60 processes`);
    } finally {
      for (const other of others) other.kill("SIGKILL");
      await Promise.all(others.map(({ status }) => status));
    }
  },
});
