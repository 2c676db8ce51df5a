/** Where the executable is tested: alone in an empty folder, with a HOME that knows nothing of Deno. */

/** Programs that a machine of a user need not have. */
const DEVELOPERS = new Set(["deno", "node", "nodejs", "npm", "npx", "bun"]);

/** A folder with the executable in it, and environments for it. Gone with all in it at the end. */
export class TestBench implements AsyncDisposable {
  readonly folder: string = Deno.makeTempDirSync({ prefix: "procsup-executable-" });
  readonly home: string = `${this.folder}/home`;
  readonly executable: string = `${this.folder}/bin/procsup`;

  /** With the executable `built`, where one is tested. */
  constructor(built?: string) {
    for (const name of ["bin", "home", "tools"]) Deno.mkdirSync(`${this.folder}/${name}`);
    if (built === undefined) return;
    Deno.copyFileSync(built, this.executable);
    Deno.chmodSync(this.executable, 0o755);
  }

  /** Whether the executable is the portable form, which brings a Deno for apps. */
  get isPortable(): boolean {
    return Deno.readTextFileSync(this.executable).slice(0, 200).includes("the portable form");
  }

  /** Nothing but HOME, PATH and what the tests themselves need. */
  env(): Record<string, string> {
    return {
      HOME: this.home,
      PATH: Deno.env.get("PATH") ?? "/usr/bin:/bin",
      PROCSUP_TEST_EXECUTABLE: this.executable,
      // Of the Deno that runs the tests: it is not to fetch its packages again.
      DENO_DIR: Deno.env.get("DENO_DIR") ?? `${Deno.env.get("HOME")}/.cache/deno`,
    };
  }

  /** The same with a PATH that has every program but deno, node and theirs. */
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
      // PATH may name what is not there.
    }
  }

  #linkOne(folder: string, name: string): void {
    try {
      Deno.symlinkSync(`${folder}/${name}`, `${this.folder}/tools/${name}`);
    } catch {
      // The first of a name counts.
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.folder, { recursive: true });
  }
}
