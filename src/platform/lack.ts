/** Failures for lack of a resource that may be available again later. */

const CODES: ReadonlySet<unknown> = new Set([
  // Folders of the home are missing until they are restored, or its disk refuses them.
  "home_unusable",
  "EAGAIN",
  "EMFILE",
  "ENFILE",
  "ENOMEM",
  "ENOSPC",
  "EDQUOT",
  // The system makes a disk read-only after errors.
  "EROFS",
  "EIO",
]);

/** Whether a failure or its cause is a lack of processes, descriptors, memory or writable disk. */
export function isLack(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as { code?: unknown };
  return CODES.has(code) || isLack(error.cause);
}

/** The error of opening one more descriptor, if that fails: `fetch()` hides the code of its own. */
export function lackOfDescriptors(): unknown {
  try {
    Deno.openSync("/dev/null").close();
  } catch (error) {
    return isLack(error) ? error : undefined;
  }
  return undefined;
}
