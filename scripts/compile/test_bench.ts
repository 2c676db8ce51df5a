/** The environment for testing the executable: alone in an empty folder, with an empty HOME. */

/** Programs that may be missing on users' machines. */
const DEVELOPERS = new Set(["deno", "node", "nodejs", "npm", "npx", "bun"]);

/** A folder with the executable, and environments for it. Removed at the end. */
export class TestBench implements AsyncDisposable {
  readonly folder: string = Deno.makeTempDirSync({ prefix: "procsup-executable-" });
  readonly home: string = `${this.folder}/home`;
  readonly executable: string = `${this.folder}/bin/procsup`;

  /** Copies the executable `built` into the folder, if given. */
  constructor(built?: string) {
    for (const name of ["bin", "home", "tools"]) Deno.mkdirSync(`${this.folder}/${name}`);
    if (built === undefined) return;
    Deno.copyFileSync(built, this.executable);
    Deno.chmodSync(this.executable, 0o755);
  }

  /** Whether the executable is the portable form, which contains a Deno for apps. */
  get isPortable(): boolean {
    return Deno.readTextFileSync(this.executable).slice(0, 200).includes("the portable form");
  }

  /** An environment with only HOME, PATH and what the tests need. */
  env(): Record<string, string> {
    return {
      HOME: this.home,
      PATH: Deno.env.get("PATH") ?? "/usr/bin:/bin",
      PROCSUP_TEST_EXECUTABLE: this.executable,
      // The cache of the Deno that runs the tests, so that it does not download packages again.
      DENO_DIR: Deno.env.get("DENO_DIR") ?? `${Deno.env.get("HOME")}/.cache/deno`,
    };
  }

  /** The same, but PATH has no deno, node or their tools. */
  bareEnv(): Record<string, string> {
    for (const folder of this.env().PATH!.split(":")) this.#link(folder);
    return { ...this.env(), PATH: `${this.folder}/tools` };
  }

  #link(folder: string): void {
    try {
      for (const { name } of Deno.readDirSync(folder)) {
        if (!DEVELOPERS.has(name)) this.#linkOne(folder, name);
      }
    } catch {
      // PATH may contain folders that do not exist.
    }
  }

  #linkOne(folder: string, name: string): void {
    try {
      Deno.symlinkSync(`${folder}/${name}`, `${this.folder}/tools/${name}`);
    } catch {
      // The first program of a name wins.
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.folder, { recursive: true });
  }
}
