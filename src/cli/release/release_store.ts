/**
 * The releases of an app on the disk: `releases/N`, its record `N.json` once it is whole, and the
 * output of its commands in `N.log`. All of it is done by the app's user, who may change it.
 */

import { messageOf, ProcsupError, quote } from "../../model/errors.ts";
import { folderOf, releasePlace } from "../../model/release_folder.ts";
import { readForeignFile } from "../../platform/files/foreign_file.ts";
import { namesIn } from "../../platform/files/stat.ts";
import { startingEnvironment } from "../../platform/users/app_user.ts";
import { type OtherUser, startedFor, systemProgram } from "../../platform/users/as_user.ts";
import { withOwnKeyring } from "../../platform/users/keyring.ts";
import { writeMessage } from "../output.ts";
import { GIT_ENVIRONMENT } from "./source.ts";

/** What is known of a release. It never changes. */
export interface ReleaseRecord {
  /** Other apps may have the same folder. */
  readonly app: string;
  /** As it was given. */
  readonly from: string;
  /** The commit; empty if it is not from git. */
  readonly revision: string;
  /** The release that ran before; null for the app's own folder. */
  readonly after: number | null;
  readonly at: string;
  readonly build?: string | undefined;
  readonly test?: string | undefined;
}

/** Names of what a release leaves, whole or not. */
const ANY = /^(\d+)(?:\.json|\.log)?$/;

const encoder = new TextEncoder();

export class ReleaseStore {
  readonly #base: string;
  readonly #user: OtherUser | undefined;
  readonly #folder: string;

  constructor(base: string, user: OtherUser | undefined) {
    this.#base = base;
    this.#user = user;
    this.#folder = `${base}/releases`;
  }

  folder(release: number): string {
    return folderOf({ base: this.#base, release });
  }

  /** The releases of an app, the newest first. */
  of(app: string): { readonly release: number; readonly record: ReleaseRecord }[] {
    return this.#whole().flatMap((release) => {
      const record = this.record(release);
      return record?.app === app ? [{ release, record }] : [];
    });
  }

  /** The record of a release; undefined if it has none that can be read. */
  record(release: number): ReleaseRecord | undefined {
    try {
      const text = readForeignFile(this.#recordOf(release), { as: this.#user });
      const record: ReleaseRecord = JSON.parse(text);
      return isRecord(record) ? record : undefined;
    } catch {
      return undefined;
    }
  }

  /** Makes the folder of the next release. */
  async create(): Promise<number> {
    const all = this.#numbers(ANY);
    const release = (all[0] ?? 0) + 1;
    const folder = this.folder(release);
    if (releasePlace(folder).release !== release) {
      throw new ProcsupError("wrong_state", `Cannot make a release after ${all[0]}`, {
        hint: `Remove what has that number in ${this.#folder}`,
      });
    }
    const script = 'mkdir -p -- "$1" && mkdir -- "$2"';
    await this.run(["sh", "-c", script, "sh", this.#folder, folder], this.#base);
    return release;
  }

  async remove(release: number): Promise<void> {
    await this.run(["rm", "-rf", "--", this.folder(release), this.#recordOf(release)], "/");
  }

  /** Removes releases that are neither among the newest `keep` nor needed, and unfinished ones. */
  async prune(keep: number, needed: readonly number[]): Promise<void> {
    const whole = this.#whole();
    const kept = new Set([...whole.slice(0, keep), ...needed]);
    const all = this.#numbers(ANY);
    const least = Math.min(...kept);
    for (const release of all.filter((one) => !kept.has(one))) {
      await this.remove(release);
      // The output of one that failed is kept as long.
      if (release < least) await this.run(["rm", "-f", "--", this.#outputOf(release)], "/");
    }
  }

  /** Puts a release on record. */
  async write(release: number, record: ReleaseRecord): Promise<void> {
    const path = this.#recordOf(release);
    const script = 'cat > "$1.new" && mv -f -- "$1.new" "$1"';
    await this.run(["sh", "-c", script, "sh", path], "/", { input: JSON.stringify(record) });
  }

  /** The commit of a release from git. */
  async revision(release: number): Promise<string> {
    const folder = this.folder(release);
    return (await this.run(["git", "-C", folder, "rev-parse", "HEAD"], folder)).trim();
  }

  /** Shows and keeps the output of commands until it is disposed of. Then reports if not all is kept. */
  output(
    release: number,
  ): AsyncDisposable & { readonly write: (bytes: Uint8Array) => Promise<void> } {
    const script = 'exec cat > "$1"';
    const path = this.#outputOf(release);
    const child = this.#spawn(["sh", "-c", script, "sh", path], "/", "piped");
    const writer = child.stdin.getWriter();
    const decoder = new TextDecoder();
    return {
      async write(bytes) {
        writeMessage(decoder.decode(bytes, { stream: true }));
        // It fails on a full disk; the loss is reported at the end.
        await writer.write(bytes).catch(() => {});
      },
      async [Symbol.asyncDispose]() {
        await writer.close().catch(() => {});
        const { success, stderr } = await child.output();
        if (success) return;
        const why = new TextDecoder().decode(stderr).trim();
        writeMessage(`Not all of the output is in ${path}: ${why}\n`);
      },
    };
  }

  /**
   * Runs a program as the app's user. Its output goes to `write`, or is returned. Throws
   * `start_failed` if it fails.
   */
  async run(
    [program, ...args]: readonly string[],
    cwd: string,
    { write, input }: { write?: (bytes: Uint8Array) => Promise<void>; input?: string } = {},
  ): Promise<string> {
    const child = this.#spawn([program!, ...args], cwd, input === undefined ? "null" : "piped");
    if (input !== undefined) await new Blob([input]).stream().pipeTo(child.stdin);
    let text = "";
    const decoder = new TextDecoder();
    const take = async (stream: ReadableStream<Uint8Array>) => {
      for await (const bytes of stream) {
        if (write !== undefined) await write(bytes);
        else text += decoder.decode(bytes, { stream: true });
      }
    };
    await Promise.all([take(child.stdout), take(child.stderr)]);
    const { code } = await child.status;
    if (code === 0) return text;
    const said = text.trim() === "" ? "" : `: ${text.trim()}`;
    throw new ProcsupError(
      "start_failed",
      `${quote(program!)} ended with exit code ${code}${said}`,
    );
  }

  #spawn(words: readonly string[], cwd: string, stdin: "null" | "piped"): Deno.ChildProcess {
    const [name, ...rest] = words;
    const path = systemProgram(name!);
    if (path === undefined) {
      throw new ProcsupError("not_found", `The program ${quote(name!)} is not installed`);
    }
    const own = { ...Deno.env.toObject() };
    const env = {
      ...startingEnvironment(own, { inheritEnv: true, shellEnv: own }, this.#user),
      ...GIT_ENVIRONMENT,
    };
    const { argv, ...how } = startedFor(this.#user, { argv: [path, ...rest], env, cwd });
    try {
      return withOwnKeyring(this.#user, () =>
        new Deno.Command(argv[0]!, {
          args: argv.slice(1),
          ...{ ...how, clearEnv: true, stdin, stdout: "piped", stderr: "piped" },
        }).spawn());
    } catch (error) {
      throw new ProcsupError("start_failed", `Cannot run ${quote(name!)}: ${messageOf(error)}`);
    }
  }

  #recordOf(release: number): string {
    return `${this.folder(release)}.json`;
  }

  #outputOf(release: number): string {
    return `${this.folder(release)}.log`;
  }

  /** Numbers of the releases that are whole, the newest first. */
  #whole(): number[] {
    return this.#numbers(/^(\d+)\.json$/);
  }

  #numbers(form: RegExp): number[] {
    const numbers = namesIn(this.#folder).flatMap((name) => form.exec(name)?.[1] ?? []).map(Number);
    return [...new Set(numbers)].sort((a, b) => b - a);
  }
}

/** The app's user may have changed it. */
function isRecord(
  { app, from, revision, after, at, build = "", test = "" }: ReleaseRecord,
): boolean {
  return [app, from, revision, at, build, test].every((text) => typeof text === "string") &&
    (after === null || Number.isSafeInteger(after));
}

/** The line that stands before the output of a command. */
export function heading(text: string): Uint8Array {
  return encoder.encode(`$ ${text}\n`);
}
