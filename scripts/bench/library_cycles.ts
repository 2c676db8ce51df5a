// deno-lint-ignore-file no-console
/**
 * Measures what repeated starts and stops in-process leave behind: memory per 1,000 cycles,
 * descriptors, zombies.
 *
 *     deno run -A --v8-flags=--expose-gc scripts/bench/library_cycles.ts [cycles, 10000 by default]
 */

import { Manager } from "../../src/mod.ts";

const cycles = Number(Deno.args[0] ?? 10_000);
const SAMPLES = 20;

/** Resources of this process. */
interface Sample {
  readonly cycle: number;
  readonly rssMb: number;
  readonly heapMb: number;
  readonly descriptors: number;
  readonly zombies: number;
}

function sample(cycle: number): Sample {
  // With --expose-gc, garbage does not count.
  (globalThis as { gc?: () => void }).gc?.();
  const { rss, heapUsed } = Deno.memoryUsage();
  return {
    cycle,
    rssMb: rss / 1e6,
    heapMb: heapUsed / 1e6,
    descriptors: [...Deno.readDirSync("/proc/self/fd")].length,
    zombies: zombies(),
  };
}

/** Children that have ended but were not reaped. */
function zombies(): number {
  return [...Deno.readDirSync("/proc")].filter(({ name }) => {
    try {
      const stat = Deno.readTextFileSync(`/proc/${Number(name)}/stat`);
      const [state, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      return state === "Z" && Number(parent) === Deno.pid;
    } catch {
      return false;
    }
  }).length;
}

/** Least-squares slope of a value, per 1,000 cycles. */
function slope(samples: readonly Sample[], value: (sample: Sample) => number): number {
  const mean = (numbers: readonly number[]) => numbers.reduce((a, b) => a + b, 0) / numbers.length;
  const [x, y] = [mean(samples.map(({ cycle }) => cycle)), mean(samples.map(value))];
  const above = samples.reduce((sum, s) => sum + (s.cycle - x) * (value(s) - y), 0);
  const below = samples.reduce((sum, s) => sum + (s.cycle - x) ** 2, 0);
  return above / below * 1000;
}

const logDir = await Deno.makeTempDir({ prefix: "procsup-cycles-" });
const samples: Sample[] = [];
{
  await using manager = await Manager.open({ logDir });
  const id = await manager.addProcess({ name: "app", binary: "/bin/sleep", args: ["1000"] });
  const begun = performance.now();
  for (let cycle = 1; cycle <= cycles; cycle++) {
    if (cycle % 2 === 0) await manager.restart(id);
    else {
      await manager.remove(await manager.addProcess({ name: "other", binary: "/bin/true" }));
    }
    if (cycle % Math.ceil(cycles / SAMPLES) === 0) {
      const now = sample(cycle);
      samples.push(now);
      console.log(
        `${String(cycle).padStart(6)}  ${now.rssMb.toFixed(1)} MB  heap ${
          now.heapMb.toFixed(1)
        } MB  ` +
          `${now.descriptors} descriptors  ${now.zombies} zombies`,
      );
    }
  }
  const ms = (performance.now() - begun) / cycles;
  console.log(`${cycles} cycles, ${ms.toFixed(1)} ms each`);
}
await Deno.remove(logDir, { recursive: true });

// The first half is warm-up: compiled code and caches grow.
const settled = samples.slice(samples.length / 2);
const descriptors = new Set(samples.map((each) => each.descriptors));
console.log(`memory: ${slope(settled, ({ rssMb }) => rssMb).toFixed(2)} MB per 1,000 cycles`);
console.log(`heap: ${slope(settled, ({ heapMb }) => heapMb).toFixed(2)} MB per 1,000 cycles`);
console.log(`descriptors: ${[...descriptors].join(", ")}`);
console.log(`zombies: ${Math.max(...samples.map((each) => each.zombies))}`);
