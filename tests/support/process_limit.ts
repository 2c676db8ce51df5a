/** Limits the number of processes and threads of a running program. */

/** Parent folders of control groups that count processes: version 1 and version 2. */
const ROOTS = ["/sys/fs/cgroup/pids", "/sys/fs/cgroup"];

let made = 0;

/** The limit of one process and all processes it starts. */
export class ProcessLimit implements Disposable {
  /** Whether a limit can be set: root is exempt from user limits and needs a control group. */
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

  /** Forbids any further process. */
  none(): void {
    if (this.#group === undefined) return this.#limitUser("1");
    Deno.writeTextFileSync(`${this.#group}/pids.max`, "0");
  }

  /** Removes the limit. */
  lift(): void {
    if (this.#group === undefined) return this.#limitUser(mostOf(this.#pid));
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
        // The process has ended meanwhile.
      }
    }
    Deno.removeSync(this.#group);
  }

  /** Sets only the soft limit, which can be lifted again. */
  #limitUser(most: string): void {
    const { success } = new Deno.Command("prlimit", {
      args: [`--pid=${this.#pid}`, `--nproc=${most}:`],
    }).outputSync();
    if (!success) throw new Error("prlimit failed");
  }
}

/** The most processes that the user may allow a process. */
function mostOf(pid: number): string {
  const limits = Deno.readTextFileSync(`/proc/${pid}/limits`);
  return /^Max processes +\S+ +(\S+)/m.exec(limits)![1]!;
}

/** The path for a new control group; undefined if none can be created. */
function newGroup(): string | undefined {
  for (const root of ROOTS) {
    const path = `${root}/procsup-test-${Deno.pid}-${made++}`;
    try {
      Deno.mkdirSync(path);
      const counts = [...Deno.readDirSync(path)].some(({ name }) => name === "pids.max");
      Deno.removeSync(path);
      if (counts) return path;
    } catch {
      // Not possible here: try the other version.
    }
  }
  return undefined;
}
