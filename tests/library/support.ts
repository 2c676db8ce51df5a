/** A manager in its own directory. */

import { Manager, type ManagerConfig, type ProcessConfigInput } from "../../src/mod.ts";
import { tempHome } from "../support/temp_home.ts";

/** A manager that is closed at the end of `await using`, with its directory removed. */
export interface TestManager extends AsyncDisposable {
  readonly manager: Manager;
  readonly logDir: string;
}

/**
 * A test that fails if it leaves an operation, timer or resource behind, because users' tests would
 * fail too.
 */
export function cleanTest(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, fn, sanitizeOps: true, sanitizeResources: true });
}

/** Opens one. */
export async function openManager(config: ManagerConfig = {}): Promise<TestManager> {
  const home = tempHome();
  const manager = await Manager.open({ logDir: home.path, ...config });
  return {
    manager,
    logDir: home.path,
    async [Symbol.asyncDispose]() {
      await manager.close();
      await home[Symbol.asyncDispose]();
    },
  };
}

/** A shell script as a process. */
export function shell(
  name: string,
  script: string,
  config: Partial<ProcessConfigInput> = {},
): ProcessConfigInput {
  return { name, binary: "/bin/sh", args: ["-c", script], cwd: "/", ...config };
}

/** A process that runs until it is terminated. */
export function sleeper(name: string, config: Partial<ProcessConfigInput> = {}) {
  return shell(name, "exec sleep 1000", config);
}

/** A stream of bytes as text. */
export async function textOf(stream: ReadableStream<Uint8Array>): Promise<string> {
  return await new Response(stream).text();
}

/** The error code of a rejected promise; `none` if it resolves. */
export async function codeOf(promise: Promise<unknown>): Promise<string> {
  return await promise.then(() => "none", (error) => String(error?.code ?? error));
}

/** The error code that a call throws. */
export function thrownCode(act: () => unknown): string {
  try {
    act();
    return "none";
  } catch (error) {
    return String((error as { code?: string }).code ?? error);
  }
}
