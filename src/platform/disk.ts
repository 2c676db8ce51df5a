/** How much room a file system has. */

/** In bytes. */
export interface DiskSpace {
  readonly total: number;
  /** What an ordinary user may still write. */
  readonly available: number;
}

/** The file system that a path is on; zeros if unknown. */
export async function diskOf(path: string): Promise<DiskSpace> {
  // Deno has no word for it, and the module is too large to load for nothing.
  const { statfsSync } = await import("node:fs");
  try {
    const { bsize, blocks, bavail } = statfsSync(path);
    return { total: bsize * blocks, available: bsize * bavail };
  } catch {
    return { total: 0, available: 0 };
  }
}
