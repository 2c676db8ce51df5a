/** Figures over time, drawn with blocks. Pure. */

const BLOCKS = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];

/** One line of `width` blocks, the newest figure at its right end. `max` is a full block. */
export function sparkline(values: readonly number[], width: number, max: number): string {
  return area(values, width, 1, max)[0]!;
}

/** The same `height` lines high, the upper one first. Whatever is above 0 shows. */
export function area(
  values: readonly number[],
  width: number,
  height: number,
  max: number,
): string[] {
  const shown = values.slice(-width);
  const blank = " ".repeat(Math.max(0, width - shown.length));
  const eighths = shown.map((value) => {
    const part = max > 0 ? Math.min(1, Math.max(0, value / max)) : 0;
    return part > 0 ? Math.max(1, Math.round(part * height * 8)) : 0;
  });
  return Array.from({ length: height }, (_, line) => {
    const below = (height - 1 - line) * 8;
    return blank + eighths.map((e) => BLOCKS[Math.min(8, Math.max(0, e - below))]).join("");
  });
}
