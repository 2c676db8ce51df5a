/** Failures for lack of something that the machine may have again later. */

const CODES: ReadonlySet<unknown> = new Set([
  // The home lacks folders, which are put back, or its disk refuses them.
  "home_unusable",
  "EAGAIN",
  "EMFILE",
  "ENFILE",
  "ENOMEM",
  "ENOSPC",
  "EDQUOT",
  // The system makes a disk read-only after errors of it.
  "EROFS",
  "EIO",
]);

/** Whether a failure, or its cause, is a lack of processes, descriptors, memory or a disk that takes writes. */
export function isLack(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as { code?: unknown };
  return CODES.has(code) || isLack(error.cause);
}

/** The failure to open one descriptor more, if it fails: `fetch()` does not tell the code of its own. */
export function lackOfDescriptors(): unknown {
  try {
    Deno.openSync("/dev/null").close();
  } catch (error) {
    if (isLack(error)) return error;
  }
}
