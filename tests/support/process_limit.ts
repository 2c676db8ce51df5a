/** A limit of the processes and threads that a program may have, set while it runs. */

/** Where a control group that counts processes can be made: of version 1, or 2. */
const ROOTS = ["/sys/fs/cgroup/pids", "/sys/fs/cgroup"];

let made = 0;

/** The limit of one process and of what it starts. */
export class ProcessLimit implements Disposable {
  /** Whether this machine lets us: the limit of a user holds for all but root, who may make groups. */
  static readonly isPossible: boolean = Deno.build.os === "linux" &&
    (Deno.uid() !== 0 || newGroup() !== undefined);

  readonly #pid: number;
  readonly #group: string | undefined;

  constructor(pid: number) {
    this.#pid = pid;
    this.#group = Deno.uid() === 0 ? newGroup() : undefined;
    if (this.#group === undefined) return;
    Deno.mkdirSync(this.#group, { recursive: true });
    Deno.writeTextFileSync(`${this.#group}/cgroup.procs`, String(pid));
  }

  /** Not one more from now on. */
  none(): void {
    if (this.#group === undefined) return this.#limitUser("1");
    Deno.writeTextFileSync(`${this.#group}/pids.max`, "0");
  }

  /** As many as it likes. */
  lift(): void {
    if (this.#group === undefined) return this.#limitUser("unlimited");
    Deno.writeTextFileSync(`${this.#group}/pids.max`, "max");
  }

  [Symbol.dispose](): void {
    this.lift();
    if (this.#group === undefined) return;
    const parent = this.#group.slice(0, this.#group.lastIndexOf("/"));
    for (const pid of Deno.readTextFileSync(`${this.#group}/cgroup.procs`).trim().split("\n")) {
      try {
        Deno.writeTextFileSync(`${parent}/cgroup.procs`, pid);
      } catch {
        // It has ended meanwhile.
      }
    }
    Deno.removeSync(this.#group);
  }

  /** The soft limit alone: it can be lifted again. */
  #limitUser(most: string): void {
    const { success } = new Deno.Command("prlimit", {
      args: [`--pid=${this.#pid}`, `--nproc=${most}:`],
    }).outputSync();
    if (!success) throw new Error("prlimit failed");
  }
}

/** The path of a new group, where one can be made. */
function newGroup(): string | undefined {
  for (const root of ROOTS) {
    const path = `${root}/procsup-test-${Deno.pid}-${made++}`;
    try {
      Deno.mkdirSync(path);
      const counts = [...Deno.readDirSync(path)].some(({ name }) => name === "pids.max");
      Deno.removeSync(path);
      if (counts) return path;
    } catch {
      // Not here.
    }
  }
  return undefined;
}
