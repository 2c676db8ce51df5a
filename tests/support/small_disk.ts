/** A small file system for a test. Needs root on Linux. */

/** A file system that can be filled. */
export class SmallDisk implements Disposable {
  readonly #path: string;

  /** Mounts an empty file system on a directory. */
  constructor(path: string, size = "2m") {
    this.#path = path;
    run("mount", "-t", "tmpfs", "-o", `size=${size},mode=700`, "none", path);
  }

  /** Fills it completely. */
  fill(): void {
    for (let size = 4096; size >= 1; size = Math.floor(size / 8)) {
      for (let n = 0; write(`${this.#path}/filler.${size}.${n}`, size); n++);
    }
  }

  /** Makes room again. */
  free(): void {
    for (const { name } of [...Deno.readDirSync(this.#path)]) {
      if (name.startsWith("filler.")) Deno.removeSync(`${this.#path}/${name}`);
    }
  }

  /** Makes it writable or read-only. Returns false if a file is open for writing. */
  remount(how: "ro" | "rw"): boolean {
    const args = ["-o", `remount,${how}`, this.#path];
    return new Deno.Command("mount", { args, stderr: "null" }).outputSync().success;
  }

  [Symbol.dispose](): void {
    run("umount", "-l", this.#path);
  }
}

function write(path: string, size: number): boolean {
  try {
    Deno.writeFileSync(path, new Uint8Array(size));
    return true;
  } catch {
    return false;
  }
}

function run(program: string, ...args: string[]): void {
  const { success, stderr } = new Deno.Command(program, { args }).outputSync();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
}
