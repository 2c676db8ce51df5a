/** A real terminal: a shell in tmux, with its keys and its screen. */

import { isInstalled } from "./installed.ts";
import { type TempHome, tempHome } from "./temp_home.ts";
import { waitFor } from "./wait_for.ts";

/** Whether tmux is missing. If so, prints how to install it. */
export function tmuxMissing(): boolean {
  if (isInstalled("tmux")) return false;
  // deno-lint-ignore no-console
  console.warn("Tests of the live view are left out: install tmux (apt-get install tmux)");
  return true;
}

/** A shell in a new terminal. */
export class TmuxTerminal implements AsyncDisposable {
  readonly #temp: TempHome;

  private constructor(temp: TempHome) {
    this.#temp = temp;
  }

  /** Opens a terminal, and waits for the shell's prompt. */
  static async open(
    env: Record<string, string>,
    { columns = 100, rows = 30 } = {},
  ): Promise<TmuxTerminal> {
    const terminal = new TmuxTerminal(tempHome());
    const size = ["-x", String(columns), "-y", String(rows)];
    // Ignore the user's NO_COLOR: tests choose whether they want colours.
    const all = { NO_COLOR: "", ...env, ENV: "", LC_ALL: "C.UTF-8" };
    const given = Object.entries(all).flatMap(([key, value]) => ["-e", `${key}=${value}`]);
    const here = ["-c", terminal.folder];
    await terminal.#tmux("new-session", "-d", "-s", "t", ...size, ...here, ...given, "sh");
    // Setting PS1 in the environment is not enough: root's shell has another prompt.
    await terminal.command("PS1='ready$ '");
    // Text that was typed before the shell was up follows its first prompt.
    await terminal.sees((screen) => /(?:^|[#$] )ready\$/m.test(screen));
    return terminal;
  }

  /** A folder that is removed with the terminal. */
  get folder(): string {
    return this.#temp.path;
  }

  /** Presses keys, each by its tmux name (`Enter`, `C-c`) or as the character itself. */
  async keys(...keys: string[]): Promise<void> {
    await this.#tmux("send-keys", "-t", "t", ...keys);
  }

  /** Types text literally. */
  async type(text: string): Promise<void> {
    await this.#tmux("send-keys", "-t", "t", "-l", text);
  }

  /** Runs a line in the shell. */
  async command(line: string): Promise<void> {
    await this.type(line);
    await this.keys("Enter");
  }

  /** Pastes text into the terminal. */
  async paste(text: string): Promise<void> {
    await this.#tmux("set-buffer", text);
    await this.#tmux("paste-buffer", "-p", "-t", "t");
  }

  /** The visible text. */
  async screen(): Promise<string> {
    return await this.#tmux("capture-pane", "-p", "-t", "t");
  }

  /** The visible text with its colour sequences. */
  async colors(): Promise<string> {
    return await this.#tmux("capture-pane", "-p", "-e", "-t", "t");
  }

  /** Waits until the screen contains the text or passes the test. Returns the screen. */
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

  /** Changes its size. */
  async resize(columns: number, rows: number): Promise<void> {
    await this.#tmux("resize-window", "-t", "t", "-x", String(columns), "-y", String(rows));
  }

  /** One of tmux's own variables: `alternate_on`, `cursor_flag`, `pane_pid`, … */
  async variable(name: string): Promise<string> {
    return (await this.#tmux("display-message", "-p", "-t", "t", `#{${name}}`)).trim();
  }

  /** Closes the terminal while a program may still run in it. */
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
