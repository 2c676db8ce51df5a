/** Repeatable random numbers. */

/**
 * Random numbers in [0, 1) from a seed, which is printed. Set `PROCSUP_TEST_SEED` to repeat a run.
 */
export function seeded(): () => number {
  const seed = Number(Deno.env.get("PROCSUP_TEST_SEED") ?? Math.trunc(Math.random() * 2 ** 31));
  // deno-lint-ignore no-console
  console.log(`PROCSUP_TEST_SEED=${seed}`);
  let state = seed;
  // Mulberry32.
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
