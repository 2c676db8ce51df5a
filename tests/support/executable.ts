/** The built executable, alone in an empty folder. */

import { outputOf } from "./output_of.ts";
import { tempHome } from "./temp_home.ts";

const program: string | undefined = Deno.env.get("PROCSUP_TEST_EXECUTABLE");
const head = program === undefined ? "" : Deno.readTextFileSync(program).slice(0, 200);

/** Whether the tests run the portable executable; see `deno task test:executable`. */
export const portable: boolean = head.includes("the portable form");

/** Path of the executable that the tests run, if any. A complete run starts a script instead. */
export const built: string | undefined = portable || !head.startsWith("#!") ? program : undefined;

/** Whether a test may mount file systems. */
export const mayMount: boolean = new Deno.Command("unshare", {
  args: ["-m", "mount", "-t", "tmpfs", "none", "/mnt"],
  stdout: "null",
  stderr: "null",
}).outputSync().success;

/** Changes to a run; the default environment has only `HOME`. */
export interface Setting {
  readonly env?: Readonly<Record<string, string>>;
  /** A shell command to run first, in a new mount namespace. */
  readonly mount?: string;
}

/** A folder that contains the executable and is also `HOME`. */
export class Alone implements AsyncDisposable {
  readonly #temp = tempHome("/var/tmp");
  readonly path = this.#temp.path;
  readonly program = `${this.path}/procsup`;
  readonly cache = `${this.path}/.cache/procsup`;

  constructor() {
    Deno.copyFileSync(built!, this.program);
    Deno.chmodSync(this.program, 0o755);
  }

  /** Name of the folder that it unpacks to. */
  get hash(): string {
    return /^hash=([0-9a-f]{64})$/m.exec(Deno.readTextFileSync(this.program).slice(0, 1000))![1]!;
  }

  /** Path of the folder that it unpacks to. */
  get unpacked(): string {
    return `${this.cache}/${this.hash}`;
  }

  /** All names in the cache. */
  cached(): string[] {
    return [...Deno.readDirSync(this.cache)].map(({ name }) => name).sort();
  }

  /** Runs it, by default with only `HOME` in its environment. */
  async run(args: readonly string[], { env = { HOME: this.path }, mount }: Setting = {}) {
    const words = mount === undefined
      ? [this.program, ...args]
      : ["unshare", "-m", "sh", "-c", `${mount} && exec "$@"`, "sh", this.program, ...args];
    const [program, ...rest] = words;
    return await outputOf(
      new Deno.Command(program!, {
        args: rest,
        cwd: this.path,
        clearEnv: true,
        env,
        stdin: "null",
      }),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#temp[Symbol.asyncDispose]();
  }
}
