/** A small file system for a test: root on Linux. */

/** A file system that can be filled. */
export class SmallDisk implements Disposable {
  readonly #path: string;

  /** Mounts an empty one on a directory. */
  constructor(path: string, size = "2m") {
    this.#path = path;
    run("mount", "-t", "tmpfs", "-o", `size=${size},mode=700`, "none", path);
  }

  /** Leaves no room for another byte. */
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

  /** Makes it writable or read-only; false while something is being written. */
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
