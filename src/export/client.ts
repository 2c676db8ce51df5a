/** Clients of engines: `docker`, `kubectl`, `systemctl`, run by their names on PATH. */

import { ProcsupError } from "../model/errors.ts";

/** What a client printed. */
export interface Said {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a client. Throws `not_found` where it is not installed. */
export async function ask(program: string, ...args: string[]): Promise<Said> {
  const command = new Deno.Command(program, { args, stdin: "null" });
  const { code, stdout, stderr } = await started(program, () => command.output());
  const text = new TextDecoder();
  return { code, stdout: text.decode(stdout), stderr: text.decode(stderr) };
}

/** The output of a client. Throws `start_failed` with what it said when it fails. */
export async function told(program: string, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await ask(program, ...args);
  if (code === 0) return stdout;
  const why = stderr.trim() || stdout.trim() || `exit code ${code}`;
  throw new ProcsupError("start_failed", `${program} ${args[0]}: ${why}`);
}

/** Objects of a client's output: one a line. */
export async function jsonLines<T>(program: string, ...args: string[]): Promise<T[]> {
  const lines = (await told(program, ...args)).split("\n").filter((line) => line !== "");
  return lines.map((line) => JSON.parse(line) as T);
}

/** Runs a client in this terminal, and gives its exit code. */
export async function shown(program: string, ...args: string[]): Promise<number> {
  const command = new Deno.Command(program, { args, stdin: "null" });
  const child = await started(program, () => Promise.resolve(command.spawn()));
  return (await child.status).code;
}

async function started<T>(program: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    throw new ProcsupError("not_found", `"${program}" is not installed, or not on PATH`);
  }
}
