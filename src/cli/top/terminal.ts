/** The terminal as a full screen: taken, given back on every way out, and lent to the shell meanwhile. */

/** The other screen, no cursor, no line wrap, pastes told from keys. */
const TAKE = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[?2004h\x1b[0m\x1b[2J";
const GIVE_BACK = "\x1b[?2026l\x1b[0m\x1b[?2004l\x1b[?7h\x1b[?25h\x1b[?1049l";

/** How long a slow terminal is waited for at the end. */
const PATIENCE_MS = 2000;

const encoder = new TextEncoder();

/** The terminal of this program. */
export class Terminal {
  #taken = false;
  #written: Promise<void> = Promise.resolve();

  /** Columns and rows. */
  get size(): { columns: number; rows: number } {
    try {
      return Deno.consoleSize();
    } catch {
      // It went away; we are about to hear of it.
      return { columns: 80, rows: 24 };
    }
  }

  /** Takes it: keys come one by one, those that interrupt stay signals. */
  take(): void {
    this.#taken = true;
    Deno.stdin.setRaw(true, { cbreak: true });
    this.write(TAKE).catch(() => {});
  }

  /** Writes, as fast as it takes it: meanwhile signals and keys are heard. */
  write(text: string): Promise<void> {
    // One after the other: a part of one must not come between two of another.
    return this.#written = this.#written.catch(() => {}).then(() => this.#pour(text));
  }

  /**
   * Gives it back as it was. Any number of times, and whatever happened to it: one that takes nothing
   * any more does not keep us from ending.
   */
  async giveBack(): Promise<void> {
    if (!this.#taken) return;
    const taken = await inTime(this.write(GIVE_BACK).then(() => true, () => false));
    this.#taken = false;
    try {
      // It would wait for the rest of what was written.
      if (taken) Deno.stdin.setRaw(false);
    } catch {
      // Nobody is there to whom it could be given.
    }
  }

  async #pour(text: string): Promise<void> {
    if (!this.#taken) return;
    const bytes = encoder.encode(text);
    for (let done = 0; done < bytes.length;) done += await Deno.stdout.write(bytes.subarray(done));
  }
}

/** What a promise resolves to, or false when that takes too long. */
async function inTime(promise: Promise<boolean>): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<false>((resolve) =>
    timer = setTimeout(() => resolve(false), PATIENCE_MS)
  );
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
