/** A real terminal to look at: a shell inside of tmux, its keys and its screen. */

import { type TempHome, tempHome } from "./temp_home.ts";
import { waitFor } from "./wait_for.ts";

/** Whether tmux is there; says once how to get it when it is not. */
export function tmuxMissing(): boolean {
  try {
    return !new Deno.Command("tmux", { args: ["-V"], stdout: "null" }).outputSync().success;
  } catch {
    // deno-lint-ignore no-console
    console.warn("Tests of the live view are left out: install tmux (apt-get install tmux)");
    return true;
  }
}

/** A shell in a terminal of its own. */
export class TmuxTerminal implements AsyncDisposable {
  readonly #temp: TempHome;

  private constructor(temp: TempHome) {
    this.#temp = temp;
  }

  /** A terminal of that size, with a shell that waits for a command. */
  static async open(
    env: Record<string, string>,
    { columns = 100, rows = 30 } = {},
  ): Promise<TmuxTerminal> {
    const terminal = new TmuxTerminal(tempHome());
    const size = ["-x", String(columns), "-y", String(rows)];
    // Whoever runs the tests may want none: the tests ask for colours, and for their absence.
    const all = { NO_COLOR: "", ...env, ENV: "", LC_ALL: "C.UTF-8" };
    const given = Object.entries(all).flatMap(([key, value]) => ["-e", `${key}=${value}`]);
    const here = ["-c", terminal.folder];
    await terminal.#tmux("new-session", "-d", "-s", "t", ...size, ...here, ...given, "sh");
    // Not from the environment: a shell of root has a prompt of its own.
    await terminal.command("PS1='ready$ '");
    // Typed before the shell was up, it stands behind the shell's first prompt.
    await terminal.sees((screen) => /(?:^|[#$] )ready\$/m.test(screen));
    return terminal;
  }

  /** A folder that goes away with the terminal. */
  get folder(): string {
    return this.#temp.path;
  }

  /** Presses keys, each by its tmux name (`Enter`, `C-c`) or as the character itself. */
  async keys(...keys: string[]): Promise<void> {
    await this.#tmux("send-keys", "-t", "t", ...keys);
  }

  /** Types a text as it is. */
  async type(text: string): Promise<void> {
    await this.#tmux("send-keys", "-t", "t", "-l", text);
  }

  /** Runs a line in the shell. */
  async command(line: string): Promise<void> {
    await this.type(line);
    await this.keys("Enter");
  }

  /** Puts a text into the terminal as a paste. */
  async paste(text: string): Promise<void> {
    await this.#tmux("set-buffer", text);
    await this.#tmux("paste-buffer", "-p", "-t", "t");
  }

  /** What is to be seen. */
  async screen(): Promise<string> {
    return await this.#tmux("capture-pane", "-p", "-t", "t");
  }

  /** What is to be seen, with its colours. */
  async colors(): Promise<string> {
    return await this.#tmux("capture-pane", "-p", "-e", "-t", "t");
  }

  /** Waits until the screen holds the text, or passes the test; returns it. */
  async sees(what: string | ((screen: string) => boolean), timeoutMs = 15_000): Promise<string> {
    const test = typeof what === "string" ? (screen: string) => screen.includes(what) : what;
    let screen = "";
    await waitFor(async () => {
      screen = await this.screen();
      if (test(screen)) return true;
      throw new Error(`the screen is\n${screen}`);
    }, { timeoutMs, what: `the screen to show ${what}` });
    return screen;
  }

  /** Changes its size, as a person who drags a corner. */
  async resize(columns: number, rows: number): Promise<void> {
    await this.#tmux("resize-window", "-t", "t", "-x", String(columns), "-y", String(rows));
  }

  /** One of tmux's own variables: `alternate_on`, `cursor_flag`, `pane_pid`, … */
  async variable(name: string): Promise<string> {
    return (await this.#tmux("display-message", "-p", "-t", "t", `#{${name}}`)).trim();
  }

  /** Takes the terminal away from whatever runs in it. */
  async close(): Promise<void> {
    await this.#tmux("kill-server").catch(() => {});
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
    await this.#temp[Symbol.asyncDispose]();
  }

  async #tmux(...args: string[]): Promise<string> {
    const { success, stdout, stderr } = await new Deno.Command("tmux", {
      args: ["-u", "-f", "/dev/null", "-S", `${this.#temp.path}/tmux.sock`, ...args],
      stdin: "null",
    }).output();
    const text = new TextDecoder();
    if (!success) throw new Error(`tmux ${args[0]}: ${text.decode(stderr)}`);
    return text.decode(stdout);
  }
}
