/** How much of something is used up. */

const FULL = 90;

/** A bar; drawn for the eye only: figures stand beside it. */
export function Meter({ percent }: { percent: number }) {
  const width = Math.max(0, Math.min(100, percent));
  return (
    <svg class={`meter${percent > FULL ? " is-full" : ""}`} viewBox="0 0 100 6" aria-hidden="true">
      <rect class="rest" width="100" height="6" rx="3" />
      <rect width={width} height="6" rx="3" />
    </svg>
  );
}
