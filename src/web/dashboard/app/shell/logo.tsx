/** The logo of procsup. */
export function Logo({ size = 26 }: { size?: number }) {
  return (
    <svg class="logo" width={size} height={size} viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" />
      <path d="M7 17h4l3-8 5 14 3-6h3" />
    </svg>
  );
}
