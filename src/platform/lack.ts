/** Failures for lack of a resource that may be available again later. */

/** No process, descriptor or memory was left. */
const SHORTAGE: ReadonlySet<unknown> = new Set(["EAGAIN", "EMFILE", "ENFILE", "ENOMEM"]);

const CODES: ReadonlySet<unknown> = new Set([
  // Folders of the home are missing until they are restored, or its disk refuses them.
  "home_unusable",
  ...SHORTAGE,
  "ENOSPC",
  "EDQUOT",
  // The system makes a disk read-only after errors.
  "EROFS",
  "EIO",
]);

/** Whether a failure or its cause is a lack of processes, descriptors, memory or writable disk. */
export function isLack(error: unknown): boolean {
  return hasOneOf(CODES, error);
}

/** The same for processes, descriptors and memory alone: it says nothing about a file. */
export function isShortage(error: unknown): boolean {
  return hasOneOf(SHORTAGE, error);
}

function hasOneOf(codes: ReadonlySet<unknown>, error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as { code?: unknown };
  return codes.has(code) || hasOneOf(codes, error.cause);
}
