/** Debian's sshd on loopback with separate keys, as a stand-in for another machine. */

import { freePort } from "./http_load.ts";
import { isInstalled } from "./installed.ts";
import type { Ran } from "./output_of.ts";
import { cliIn, programLine, programWords } from "./procsup.ts";
import { type TempHome, tempHome } from "./temp_home.ts";
import { waitFor } from "./wait_for.ts";

const SSHD = "/usr/sbin/sshd";

/** Whether sshd is missing. If so, prints how to install it. */
export function sshdMissing(): boolean {
  if (isInstalled(SSHD)) return false;
  // deno-lint-ignore no-console
  console.warn("Tests of --host are left out: install sshd (apt-get install openssh-server)");
  return true;
}

/** The passphrase of the key for the context `asks`. */
export const PASSPHRASE = "open sesame";

/**
 * A server for this user, with contexts: `web1` is a daemon's home there, `asks` is the same with a
 * key that needs a passphrase, `down` does not answer.
 */
export class SshServer implements AsyncDisposable {
  /** Environment of a shell whose `ssh` knows the server, and which has these contexts. */
  readonly env: Readonly<Record<string, string>>;
  readonly #temp: TempHome;
  readonly #server: Deno.ChildProcess;

  private constructor(temp: TempHome, server: Deno.ChildProcess) {
    this.#temp = temp;
    this.#server = server;
    const path = `${temp.path}/bin:${Deno.env.get("PATH")}`;
    this.env = { PATH: path, XDG_CONFIG_HOME: `${temp.path}/config`, PROCSUP_HOME: "" };
  }

  static async start(home: string): Promise<SshServer> {
    const temp = tempHome();
    const { path } = temp;
    const port = freePort();
    for (const [name, phrase] of [["host", ""], ["user", ""], ["locked", PASSPHRASE]] as const) {
      const args = ["-q", "-t", "ed25519", "-N", phrase, "-f", `${path}/${name}`];
      if (!(await new Deno.Command("ssh-keygen", { args }).output()).success) throw new Error(name);
    }
    writeFiles(path, port, home);
    // The folder is missing if the package was installed but never started; root's server needs it.
    if (Deno.uid() === 0) Deno.mkdirSync("/run/sshd", { recursive: true });
    const args = ["-D", "-e", "-f", `${path}/sshd_config`];
    const server = new Deno.Command(SSHD, { args, stderr: "null" }).spawn();
    const answers = () => Deno.connect({ port }).then((connection) => (connection.close(), true));
    await waitFor(answers, { what: "sshd" });
    return new SshServer(temp, server);
  }

  get folder(): string {
    return this.#temp.path;
  }

  /** Runs a command of the program on this side. */
  cli(...args: string[]): Promise<Ran> {
    return cliIn("", this.env, ...args);
  }

  /** Starts a command of the program on this side. */
  spawn(...args: string[]): Deno.ChildProcess {
    const [program, ...words] = programWords();
    return new Deno.Command(program!, {
      args: [...words, ...args],
      env: { NO_COLOR: "1", ...this.env },
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
  }

  /** Cuts a command's connections, as a network failure does. Returns their number. */
  cut(command: Deno.ChildProcess): number {
    const { pid } = command;
    const children = Deno.readTextFileSync(`/proc/${pid}/task/${pid}/children`).trim();
    const pids = children.split(" ").filter((word) => word !== "").map(Number);
    for (const pid of pids) Deno.kill(pid, "SIGKILL");
    return pids.length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await new Deno.Command(`${this.folder}/bin/ssh`, {
      args: ["-q", "-O", "exit", "server"],
      stderr: "null",
    }).output();
    this.#server.kill();
    await this.#server.status;
    await this.#temp[Symbol.asyncDispose]();
  }
}

function writeFiles(path: string, port: number, home: string): void {
  const write = (name: string, lines: readonly string[], mode = 0o600) =>
    Deno.writeTextFileSync(`${path}/${name}`, `${lines.join("\n")}\n`, { mode });
  for (const name of ["bin", "config/procsup"]) {
    Deno.mkdirSync(`${path}/${name}`, { recursive: true, mode: 0o700 });
  }
  const keys = ["user", "locked"].map((name) => Deno.readTextFileSync(`${path}/${name}.pub`));
  write("authorized", keys);
  write("sshd_config", [
    ...[`Port ${port}`, "ListenAddress 127.0.0.1", `HostKey ${path}/host`],
    ...[`AuthorizedKeysFile ${path}/authorized`, `PidFile ${path}/pid`, "UsePAM no"],
    ...["StrictModes no", "PermitRootLogin yes", "PasswordAuthentication no"],
    ...["PermitUserEnvironment no", "MaxStartups 100"],
  ]);
  write("ssh_config", [
    ...["Host server", "HostName 127.0.0.1", `Port ${port}`],
    ...[`IdentityFile ${path}/user`, "IdentitiesOnly yes", `UserKnownHostsFile ${path}/known`],
    ...["StrictHostKeyChecking accept-new", "Match originalhost server"],
    ...["ControlMaster auto", `ControlPath ${path}/master`, "ControlPersist 60"],
    ...["Host asking", "HostName 127.0.0.1", `Port ${port}`, "IdentityAgent none"],
    ...[`IdentityFile ${path}/locked`, "IdentitiesOnly yes", `UserKnownHostsFile ${path}/known`],
    "StrictHostKeyChecking accept-new",
    ...["Host nowhere", "HostName 127.0.0.1", "Port 1"],
  ]);
  write("bin/ssh", ["#!/bin/sh", `exec /usr/bin/ssh -F ${path}/ssh_config "$@"`], 0o700);
  const words = programLine();
  // Like a login script that prints a greeting.
  write("procsup", ["#!/bin/sh", "echo welcome", `exec ${words} "$@"`], 0o700);
  const contexts = {
    web1: { destination: "server", program: `${path}/procsup`, home },
    asks: { destination: "asking", program: `${path}/procsup`, home },
    down: { destination: "nowhere" },
  };
  write("config/procsup/contexts.json", [JSON.stringify({ contexts })]);
}
