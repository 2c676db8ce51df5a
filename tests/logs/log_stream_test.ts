/** Streaming logs, with and without follow. */

import { assert, assertEquals, assertRejects } from "@std/assert";
import { logStream, type LogStreamOptions } from "../../src/logs/read/log_stream.ts";
import { type Clock, systemClock } from "../../src/platform/clock.ts";
import { FakeClock } from "../support/fake_clock.ts";
import { tempHome } from "../support/temp_home.ts";
import { waitFor } from "../support/wait_for.ts";

/** The test fails if it leaves a timer or an open file. */
const CLEAN = { sanitizeOps: true, sanitizeResources: true };

/** A log in a temporary home, and a reader that collects its output. */
class Scene implements AsyncDisposable {
  readonly #home = tempHome();
  readonly path = `${this.#home.path}/stdout.log`;
  readonly #abort = new AbortController();
  #reading: Promise<void> = Promise.resolve();
  text = "";
  ended = false;

  append(text: string): Promise<void> {
    return Deno.writeTextFile(this.path, text, { append: true });
  }

  follow(options: LogStreamOptions = {}): void {
    const stream = logStream(this.path, {
      follow: true,
      pollMs: 5,
      signal: this.#abort.signal,
      ...options,
    });
    this.#reading = (async () => {
      const decoder = new TextDecoder();
      for await (const chunk of stream) this.text += decoder.decode(chunk, { stream: true });
      this.ended = true;
    })();
  }

  until(text: string): Promise<void> {
    return waitFor(() => this.text === text, { what: `the text to be ${JSON.stringify(text)}` });
  }

  async end(): Promise<void> {
    this.#abort.abort();
    await this.#reading;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end();
    await this.#home[Symbol.asyncDispose]();
  }
}

/** The system clock. `asleep` resolves at its first timer, when the follower waits. */
function watchedClock(): { clock: Clock; asleep: Promise<void> } {
  const { promise, resolve } = Promise.withResolvers<void>();
  const after: Clock["after"] = (ms, act) => {
    resolve();
    return systemClock.after(ms, act);
  };
  return { clock: { ...systemClock, after }, asleep: promise };
}

function textOf(stream: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<string> {
  return new Response(stream).text();
}

Deno.test("logStream() returns a whole file, or its last lines, and ends", async () => {
  await using scene = new Scene();
  await scene.append("a\nb\nc\n");
  assertEquals(await textOf(logStream(scene.path)), "a\nb\nc\n");
  assertEquals(await textOf(logStream(scene.path, { tail: 2 })), "b\nc\n");
  assertEquals(await textOf(logStream(`${scene.path}.none`, { tail: 2 })), "");
});

Deno.test("logStream() keeps bytes exact and chunks small", async () => {
  await using scene = new Scene();
  const bytes = new Uint8Array(1_000_003).map((_, index) => index * 31 % 256);
  await Deno.writeFile(scene.path, bytes);
  const chunks = await Array.fromAsync(logStream(scene.path));
  assert(chunks.every((chunk) => chunk.length <= 64 * 1024));
  assertEquals(await new Blob(chunks).bytes(), bytes);
});

Deno.test("logStream() without follow ends at the file's size when it was opened", async () => {
  await using scene = new Scene();
  await scene.append("x".repeat(100_000));
  const reader = logStream(scene.path).getReader();
  let length = (await reader.read()).value!.length;
  await scene.append("more");
  for (let next; !(next = await reader.read()).done;) length += next.value.length;
  assertEquals(length, 100_000);
});

Deno.test("logStream() follows a file as it grows", async () => {
  await using scene = new Scene();
  await scene.append("a\nb\n");
  scene.follow({ tail: 1 });
  await scene.until("b\n");
  await scene.append("c");
  await scene.until("b\nc");
  await scene.append("d\n");
  await scene.until("b\ncd\n");
  assertEquals(scene.ended, false);
});

Deno.test("logStream() waits for a missing file and returns all of it", async () => {
  await using scene = new Scene();
  const { clock, asleep } = watchedClock();
  scene.follow({ tail: 1, clock });
  await asleep;
  await scene.append("a\nb\n");
  await scene.until("a\nb\n");
});

Deno.test("logStream() reads a truncated file from the start", async () => {
  await using scene = new Scene();
  await scene.append("old old old\n");
  scene.follow();
  await scene.until("old old old\n");
  await Deno.truncate(scene.path);
  await scene.append("new\n");
  await scene.until("old old old\nnew\n");
});

Deno.test("logStream() reads the rest of a replaced file, then its successor", async () => {
  await using scene = new Scene();
  await scene.append("one\n");
  scene.follow();
  await scene.until("one\n");
  for (const round of [1, 2, 3]) {
    const before = scene.text;
    using old = await Deno.open(scene.path, { append: true });
    await Deno.rename(scene.path, `${scene.path}.${round}`);
    await old.write(new TextEncoder().encode("rest\n"));
    await scene.until(`${before}rest\n`);
    await scene.append(`new ${round}\n`);
    await scene.until(`${before}rest\nnew ${round}\n`);
  }
});

Deno.test("logStream() loses nothing of a file that is replaced between two polls", async () => {
  await using scene = new Scene();
  await scene.append("a");
  const reader = logStream(scene.path, { follow: true, pollMs: 5 }).getReader();
  const read = async () => new TextDecoder().decode((await reader.read()).value);
  assertEquals(await read(), "a");
  await scene.append("b");
  await Deno.rename(scene.path, `${scene.path}.1`);
  await scene.append("c");
  assertEquals([await read(), await read()], ["b", "c"]);
  await reader.cancel();
});

Deno.test(
  "logStream() closes when its signal is aborted, before, during and between reads",
  CLEAN,
  async () => {
    await using scene = new Scene();
    await scene.append("a");
    assertEquals(await textOf(logStream(scene.path, { signal: AbortSignal.abort() })), "");

    const waiting = new AbortController();
    // Polling is so slow that only the signal can wake it.
    const options = { follow: true, pollMs: 600_000 };
    const { clock, asleep } = watchedClock();
    const reader = logStream(scene.path, { ...options, clock, signal: waiting.signal }).getReader();
    await reader.read();
    const pending = reader.read();
    await asleep;
    waiting.abort();
    assertEquals((await pending).done, true);

    const idle = new AbortController();
    const second = logStream(scene.path, { ...options, signal: idle.signal }).getReader();
    await second.read();
    idle.abort();
    assertEquals((await second.read()).done, true);
  },
);

Deno.test("logStream() leaves nothing behind when it is cancelled", CLEAN, async () => {
  await using scene = new Scene();
  await scene.append("a");
  const options = { follow: true, pollMs: 600_000 };
  await logStream(scene.path, options).cancel();

  const abort = new AbortController();
  const clock = new FakeClock();
  const reader = logStream(scene.path, { ...options, clock, signal: abort.signal }).getReader();
  await reader.read();
  const pending = reader.read();
  await waitFor(() => clock.pending === 1, { what: "the wait" });
  await reader.cancel();
  assertEquals([(await pending).done, clock.pending], [true, 0]);
  abort.abort();

  // No file stays open after a cancel during opening.
  const missing = logStream(`${scene.path}.none`, options).getReader();
  const never = missing.read();
  await missing.cancel();
  assertEquals((await never).done, true);
});

Deno.test("logStream() reads only when asked", async () => {
  await using scene = new Scene();
  await scene.append("a");
  const reader = logStream(scene.path, { tail: 1 }).getReader();
  await scene.append("b");
  assertEquals(new TextDecoder().decode((await reader.read()).value), "ab");
  await reader.cancel();
});

Deno.test("logStream() errors when the path cannot be read", async () => {
  await using scene = new Scene();
  await Deno.mkdir(scene.path);
  await assertRejects(() => textOf(logStream(scene.path)), Deno.errors.IsADirectory);
});
