/** Configuration files for tests, and the result of loading them. */

import { ConfigProblems } from "../../src/config/problem.ts";
import { findingsIn } from "../../src/daemon/check_files.ts";
import { loadConfig, type LoadedConfig } from "../../src/config/load_config.ts";
import type { ProcsupError } from "../../src/model/errors.ts";
import { tempHome } from "../support/temp_home.ts";

/** The files of a test, by name. `load()` reads the first one, or those named. */
export class Files implements AsyncDisposable {
  readonly #home = tempHome();

  constructor(files: Readonly<Record<string, string>>) {
    for (const [name, text] of Object.entries(files)) this.write(name, text);
  }

  /** The folder. */
  get folder(): string {
    return this.#home.path;
  }

  /** Writes a file, and creates its parent folders. */
  write(name: string, text: string): void {
    const path = `${this.folder}/${name}`;
    Deno.mkdirSync(path.slice(0, path.lastIndexOf("/")), { recursive: true });
    Deno.writeTextFileSync(path, text);
  }

  /** Loads files. */
  load(
    names: readonly string[],
    options: { profile?: string; env?: Record<string, string>; assumeVariables?: boolean } = {},
  ): Promise<LoadedConfig> {
    const files = names.map((name) => `${this.folder}/${name}`);
    return loadConfig({ files, env: {}, ...options });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#home[Symbol.asyncDispose]();
  }
}

/** What `procsup config validate` finds. */
export async function findings(loaded: LoadedConfig) {
  return (await findingsIn(loaded, "/nonexistent")).problems;
}

/** The configurations of one file, by name. */
export async function loadedFrom(name: string, text: string) {
  await using files = new Files({ [name]: text });
  const { processes } = await files.load([name]);
  return new Map(processes.map(({ config }) => [config.name, config]));
}

/** The mistakes in one file, as lines `7:5 message` without the folder. */
export async function mistakes(name: string, text: string): Promise<string[]> {
  await using files = new Files({ [name]: text });
  try {
    await files.load([name]);
    return [];
  } catch (error) {
    const problems = error instanceof ConfigProblems ? error.problems : [error as ProcsupError];
    return problems.map(({ message }) =>
      message.replaceAll(`${files.folder}/${name}:`, "").replaceAll(`${files.folder}/`, "").trim()
    );
  }
}
