/** procsup in a booted machine, for the steps of the test. */

import { comesTrue } from "../../src/platform/clock.ts";
import type { Machine } from "./machine.ts";

/** A check. `run` returns what was seen, or throws. */
export interface Step {
  readonly name: string;
  run(scene: Scene): Promise<string>;
}

/** An app in the output of `list`. */
export interface App {
  readonly name: string;
  readonly pid: number;
  readonly state: string;
  readonly restarts: number;
}

const PATIENCE_MS = 60_000;

/** The daemon of one user; root by default. */
export class Scene {
  readonly machine: Machine;
  readonly user: string | undefined;

  constructor(machine: Machine, user?: string) {
    this.machine = machine;
    this.user = user;
  }

  /** The user's home, as seen from outside. */
  get folder(): string {
    return `${this.machine.root}${this.user === undefined ? "/root" : `/home/${this.user}`}`;
  }

  /** Runs a shell command as the user and returns its output. Throws if it fails. */
  async sh(command: string): Promise<string> {
    const { code, stdout, stderr } = await this.try(command);
    if (code === 0) return stdout.trim();
    throw new Error(`${command}: exit code ${code}\n${stdout}${stderr}`);
  }

  /** Like `sh()`, but returns failures. */
  try(command: string) {
    if (this.user === undefined) return this.machine.exec(command);
    const env = `HOME=/home/${this.user} XDG_RUNTIME_DIR=/run/user/$(id -u ${this.user})`;
    const quoted = `'${command.replace(/'/g, `'\\''`)}'`;
    return this.machine.exec(`runuser -u ${this.user} -- env ${env} /bin/sh -c ${quoted}`);
  }

  /** Runs `systemctl` for the user's service manager. */
  systemctl(words: string): Promise<string> {
    return this.sh(`systemctl ${this.user === undefined ? "" : "--user "}${words}`);
  }

  /** A property of the unit. */
  show(property: string): Promise<string> {
    return this.systemctl(`show -P ${property} procsup.service`);
  }

  /** The app in the output of `list`. */
  async app(name: string): Promise<App> {
    const list = JSON.parse(await this.sh("procsup list --json")) as App[];
    const found = list.find((app) => app.name === name);
    if (found === undefined) throw new Error(`There is no app "${name}"`);
    return found;
  }

  /**
   * Does something to the daemon. Afterwards there must be another daemon, and the app must have the
   * same pid.
   */
  async survives(name: string, act: () => Promise<unknown>): Promise<string> {
    const before = await this.app(name);
    const daemon = await this.show("MainPID");
    await act();
    await this.until("another daemon answers", async () => {
      const now = await this.show("MainPID");
      return now !== daemon && now !== "0" && (await this.try("procsup ping")).code === 0;
    });
    const after = await this.app(name);
    equal(after.pid, before.pid, `pid of ${name}`);
    equal(after.restarts, before.restarts, `restarts of ${name}`);
    return `daemon ${daemon} → ${await this.show("MainPID")}, ${name} still pid ${after.pid}`;
  }

  /** Waits until a condition holds. */
  async until(what: string, condition: () => Promise<boolean>): Promise<void> {
    const holds = () => condition().catch(() => false);
    if (await comesTrue(holds, { ms: PATIENCE_MS, everyMs: 100 })) return;
    throw new Error(`Not within ${PATIENCE_MS / 1000} s: ${what}`);
  }

  /** Writes an executable script. Returns its path in the machine. */
  script(name: string, text: string): string {
    const path = `${this.folder}/${name}`;
    Deno.writeTextFileSync(path, `#!/bin/sh\n${text}\n`, { mode: 0o755 });
    Deno.chmodSync(path, 0o755);
    return path.slice(this.machine.root.length);
  }

  lines(app: string): string[] {
    const path = `${this.folder}/.procsup/apps/${app}/stdout.log`;
    return Deno.readTextFileSync(path).trim().split("\n");
  }
}

/** Throws if the values differ. */
export function equal(actual: unknown, expected: unknown, what: string): void {
  if (actual === expected) return;
  throw new Error(`${what}: ${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`);
}

/** Throws if a text does not contain `part`. */
export function holds(text: string, part: string, what: string): void {
  if (!text.includes(part)) throw new Error(`${what} does not say "${part}":\n${text}`);
}
