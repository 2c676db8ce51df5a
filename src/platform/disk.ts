/** Space on a file system. */

/** Space in bytes. */
export interface DiskSpace {
  readonly total: number;
  /** Free for ordinary users. */
  readonly available: number;
}

/** The file system that a path is on; zeros if unknown. */
export async function diskOf(path: string): Promise<DiskSpace> {
  // Deno has no such function, and the module is too large to load unless needed.
  const { statfsSync } = await import("node:fs");
  try {
    const { bsize, blocks, bavail } = statfsSync(path);
    return { total: bsize * blocks, available: bsize * bavail };
  } catch {
    return { total: 0, available: 0 };
  }
}
