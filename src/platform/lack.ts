/** Failures for want of something that the machine may have again later. */

const CODES: ReadonlySet<unknown> = new Set([
  "EAGAIN",
  "EMFILE",
  "ENFILE",
  "ENOMEM",
  "ENOSPC",
  "EDQUOT",
]);

/** Whether a failure, or its cause, is a want of processes, descriptors, memory or room on the disk. */
export function isLack(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return CODES.has((error as { code?: unknown }).code) || isLack(error.cause);
}
