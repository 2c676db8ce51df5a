/** A folder with an app and a PATH of fake programs, removed at the end. */

import type { CommandConfig } from "../../src/runtimes/programs.ts";

/** A working directory, a PATH folder, and shorthands for filling them. */
export class Sandbox implements Disposable {
  readonly #root = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "procsup-runtimes-" }));
  readonly cwd: string = `${this.#root}/app`;
  readonly bin: string = `${this.#root}/bin`;

  constructor() {
    Deno.mkdirSync(this.cwd);
    Deno.mkdirSync(this.bin);
  }

  /** Puts files without x bit into the working directory. */
  files(...names: string[]): this {
    for (const name of names) {
      const path = `${this.cwd}/${name}`;
      Deno.mkdirSync(path.slice(0, path.lastIndexOf("/")), { recursive: true });
      Deno.writeTextFileSync(path, "");
    }
    return this;
  }

  /** Puts an executable into the working directory. */
  program(name: string): this {
    this.files(name);
    Deno.chmodSync(`${this.cwd}/${name}`, 0o755);
    return this;
  }

  /** Puts programs on PATH, each printing `says`. */
  installed(names: readonly string[], says = ""): this {
    for (const name of names) {
      Deno.writeTextFileSync(`${this.bin}/${name}`, `#!/bin/sh\necho '${says}'\n`);
      Deno.chmodSync(`${this.bin}/${name}`, 0o755);
    }
    return this;
  }

  /** A configuration that runs `entrypoint` here. */
  config(entrypoint: string, more: Partial<CommandConfig> = {}): CommandConfig {
    return {
      name: "api",
      entrypoint,
      runtime: "auto",
      useBundle: false,
      args: [],
      cwd: this.cwd,
      env: {},
      ...more,
    };
  }

  /** argv with this folder's paths shortened to `app/…` and `bin/…`. */
  short(argv: readonly string[]): string {
    return argv.map((word) => word.replace(`${this.#root}/`, "")).join(" ");
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.#root, { recursive: true });
  }
}
