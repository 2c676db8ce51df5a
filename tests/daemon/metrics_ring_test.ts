import { assertEquals, assertNotEquals } from "@std/assert";
import {
  COARSE,
  decodeSlots,
  downsample,
  encodeHeader,
  encodeSlot,
  FINE,
  gapsIn,
  plan,
  readHeader,
  regions,
  RING_FILE_BYTES,
  type Sample,
  SLOT_BYTES,
  slotPosition,
} from "../../src/daemon/metrics_ring.ts";

const AT = Date.UTC(2026, 0, 1, 12);
const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000];

function sample(figures: Partial<Sample> = {}): Sample {
  return {
    ...{
      cpu: 1.5,
      cpuMax: 1.5,
      memory: 2 ** 30,
      memoryMax: 2 ** 30,
      threads: 4,
      fds: 9,
      load: NaN,
    },
    ...{ restarts: 3, uptime: 86_400, up: 1, health: 1, ...figures },
  };
}

Deno.test("plan() picks the ring that covers the range, with at most the requested number of points", () => {
  const rows: [ago: number, until: number, points: number, fine: boolean, step: number][] = [
    [HOUR, 0, 1000, true, 10_000],
    [HOUR, 0, 120, true, 40_000],
    [3 * HOUR, 0, 120, false, 120_000],
    [DAY, 0, 10_000, true, 10_000],
    [DAY, 0, 200, false, 480_000],
    [25 * HOUR, 24 * HOUR, 1000, false, 120_000],
    [60 * DAY, 0, 10_000, false, 360_000],
    [0, 0, 1, true, 10_000],
  ];
  for (const [ago, until, points, fine, step] of rows) {
    const found = plan(AT - ago, AT - until, points, AT);
    assertEquals([found.ring === FINE, found.step], [fine, step], `${ago} ${until} ${points}`);
    assertEquals((found.until - found.since) / step <= points, true, `${ago} ${points}`);
  }
  assertEquals(plan(AT - 60 * DAY, AT, 10_000, AT).since >= AT - 30 * DAY - 6 * MINUTE, true);
  assertEquals(plan(AT, AT + DAY, 10, AT).until, AT);
});

Deno.test("regions() finds every slot of a range once, even across the end of the ring", () => {
  for (const ring of [FINE, COARSE]) {
    const length = ring.slots * ring.step;
    const start = Math.floor(AT / length) * length;
    assertEquals(slotPosition(ring, start), ring.offset);
    const across = regions(ring, start - 2 * ring.step, start + ring.step);
    assertEquals(across, [
      {
        position: ring.offset + (ring.slots - 2) * SLOT_BYTES,
        bytes: 2 * SLOT_BYTES,
        from: start - 2 * ring.step,
      },
      { position: ring.offset, bytes: 2 * SLOT_BYTES, from: start },
    ]);
    // A range longer than the ring returns the end of the range.
    const whole = { position: ring.offset, bytes: ring.slots * SLOT_BYTES, from: start };
    assertEquals(regions(ring, start - 3 * length, start + length - 1), [whole]);
  }
  assertEquals(RING_FILE_BYTES < 3_000_000, true);
});

Deno.test("decodeSlots() skips slots that are empty, of an older round, or damaged", () => {
  const points = [0, 1, 2, 3].map((n) => ({ at: AT + n * FINE.step, sample: sample({ cpu: n }) }));
  const bytes = new Uint8Array(5 * SLOT_BYTES);
  for (const [n, point] of points.entries()) bytes.set(encodeSlot(point), n * SLOT_BYTES);
  bytes.set(encodeSlot({ ...points[1]!, at: AT - DAY }), SLOT_BYTES);
  bytes[2 * SLOT_BYTES + 5]! ^= 1;
  assertEquals(decodeSlots(FINE, bytes, AT), [points[0]!, points[3]!]);
  assertEquals(decodeSlots(FINE, bytes.subarray(0, SLOT_BYTES + 7), AT), [points[0]!]);
});

Deno.test("readHeader() distinguishes known, newer and damaged files", () => {
  const damaged = encodeHeader();
  damaged[3]! ^= 1;
  const all = [encodeHeader(), encodeHeader(2), damaged, encodeHeader(0)];
  assertEquals(all.map(readHeader), ["known", "newer", "damaged", "damaged"]);
});

Deno.test("downsample() computes means, peaks and last values, and keeps gaps", () => {
  const at = (minutes: number, figures: Partial<Sample>) => {
    return { at: AT + minutes * MINUTE, sample: sample(figures) };
  };
  const down = {
    cpu: NaN,
    cpuMax: NaN,
    memory: NaN,
    memoryMax: NaN,
    health: NaN,
    up: 0,
    uptime: 0,
  };
  const [first, second, ...more] = downsample([
    at(0, { cpu: 1, cpuMax: 1, memory: 10, memoryMax: 10 }),
    at(1, { cpu: 3, cpuMax: 99, memory: 20, memoryMax: 30, health: 0 }),
    at(2, { ...down, restarts: 4 }),
    at(9, down),
  ], 3 * MINUTE);
  assertEquals(more, []);
  assertEquals([first!.at, second!.at], [AT, AT + 9 * MINUTE]);
  const { cpu, cpuMax, memory, memoryMax, restarts, uptime, up, health } = first!.sample;
  assertEquals([cpu, cpuMax, memory, memoryMax], [2, 99, 15, 30]);
  assertEquals([restarts, uptime, health], [4, 0, 0.5]);
  assertNotEquals(up, 1);
  assertEquals([second!.sample.cpu, second!.sample.memory], [NaN, NaN]);
});

Deno.test("gapsIn() returns the times without points, also one that began before the range", () => {
  const points = [0, 1, 4, 5, 6, 12, 13].map((step) => ({
    at: AT + step * 10_000,
    sample: sample(),
  }));
  const range = { ...plan(AT + 20_000, AT + 130_000, Infinity, AT + 140_000) };
  const inSteps = (since: number, until: number) =>
    gapsIn(points, { ...range, since: AT + since * 10_000, until: AT + until * 10_000 })
      .map(({ from, to }) => [(from - AT) / 10_000, (to - AT) / 10_000]);
  assertEquals(inSteps(0, 13), [[2, 4], [7, 12]]);
  assertEquals(inSteps(3, 6), [[2, 4]]);
  assertEquals(inSteps(5, 7), []);
  // Nothing is known before the first point.
  assertEquals(gapsIn(points.slice(0, 1), range), []);
});
