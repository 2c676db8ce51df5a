/** Splits bytes into lines with their end positions. */

/** The byte that ends a line. */
export const NEWLINE = 10;
const CARRIAGE_RETURN = 13;

const NOTHING = new Uint8Array();

/** Maximum bytes of a piece of a line. */
const MAX_PIECE = 64 * 1024;

/** State of a splitter in the middle of a line. */
export interface SplitState {
  readonly rest: Uint8Array;
  /** True if a piece of that line was emitted. */
  readonly begun: boolean;
}

export interface LinePiece {
  /** The next piece continues it. */
  readonly partial: boolean;
  /** It continues the piece before it. */
  readonly continues: boolean;
  /** A character for each byte but the `\n`, if exact lines are wanted. */
  readonly bytes: string | undefined;
}

/** Receives a line without its end, or a piece of one, and the position after it. */
export type EmitLine = (line: string, end: number, piece: LinePiece) => void;

/**
 * Splits bytes into lines without their `\n` or `\r\n`, across chunks. Invalid UTF-8 becomes U+FFFD.
 * Lines over 64 KiB come in pieces of about that size.
 */
export class LineSplitter {
  readonly #decoder = new TextDecoder();
  readonly #isExact: boolean;
  #rest: Uint8Array = NOTHING;
  /** Begins with `#rest` and has room behind it, or is empty. */
  #room: Uint8Array = NOTHING;
  /** True if a piece of the line in `#rest` was emitted. */
  #begun = false;

  /** With `isExact`, lines come with their bytes, and a last one without `\n` is `partial`. */
  constructor(isExact = false) {
    this.#isExact = isExact;
  }

  /** The state that determines how the next bytes are split. */
  get state(): SplitState {
    return { rest: this.#rest, begun: this.#begun };
  }

  set state({ rest, begun }: SplitState) {
    this.#keep(rest);
    this.#begun = begun;
  }

  /** Number of bytes that wait for the end of their line. */
  get waiting(): number {
    return this.#rest.length;
  }

  /** The same without what may be a part of a character, or of a `\r\n`. */
  get unfinished(): number {
    const rest = this.#rest;
    return rest.at(-1) === CARRIAGE_RETURN ? rest.length - 1 : wholeCharacters(rest);
  }

  /** Adds a chunk that ends at position `end`. */
  add(chunk: Uint8Array, end: number, emit: EmitLine): void {
    const kept = this.#rest.length;
    const all = this.#withRest(chunk);
    const start = end - all.length;
    let from = 0;
    // The kept part has no newline.
    let newline = all.indexOf(NEWLINE, kept);
    while (newline >= 0) {
      from = this.#pieces(all, from, newline, start, emit);
      this.#last(all.subarray(from, newline), start + newline + 1, emit);
      from = newline + 1;
      newline = all.indexOf(NEWLINE, from);
    }
    from = this.#pieces(all, from, all.length, start, emit);
    if (from > 0 || all !== this.#rest) this.#keep(all.slice(from));
  }

  /** Emits an unfinished last line, unless it is empty. */
  end(end: number, emit: EmitLine): void {
    if (this.#rest.length > 0) this.#last(this.#rest, end, emit, this.#isExact);
    this.#keep(NOTHING);
  }

  /** Emits what there is of an unfinished line, to whole characters. `end` is the position after it. */
  flush(end: number, emit: EmitLine): void {
    const rest = this.#rest;
    const to = this.unfinished;
    if (to === 0) return;
    this.#emit(rest.subarray(0, to), end - rest.length + to, true, emit);
    this.#begun = true;
    this.#keep(rest.slice(to));
  }

  #keep(rest: Uint8Array): void {
    this.#rest = rest;
    this.#room = NOTHING;
  }

  /**
   * The kept part and a chunk. A line that arrives in small chunks grows in place, because copying
   * what is there for each of them takes quadratic time.
   */
  #withRest(chunk: Uint8Array): Uint8Array {
    const kept = this.#rest.length;
    if (kept === 0) return chunk;
    const length = kept + chunk.length;
    // Most of it is emitted at once, and little is kept.
    if (length > MAX_PIECE || chunk.includes(NEWLINE)) return joined(this.#rest, chunk);
    if (length > this.#room.length) {
      this.#room = new Uint8Array(2 * length);
      this.#room.set(this.#rest);
    }
    this.#room.set(chunk, kept);
    return this.#rest = this.#room.subarray(0, length);
  }

  #pieces(all: Uint8Array, from: number, to: number, start: number, emit: EmitLine): number {
    while (to - from > MAX_PIECE) {
      const cut = characterStart(all, from + MAX_PIECE);
      this.#emit(all.subarray(from, cut), start + cut, true, emit);
      this.#begun = true;
      from = cut;
    }
    return from;
  }

  #last(bytes: Uint8Array, end: number, emit: EmitLine, partial = false): void {
    this.#emit(bytes, end, partial, emit);
    this.#begun = false;
  }

  #emit(bytes: Uint8Array, end: number, partial: boolean, emit: EmitLine): void {
    const ends = !partial && bytes.at(-1) === CARRIAGE_RETURN;
    const text = this.#decoder.decode(ends ? bytes.subarray(0, -1) : bytes);
    const exact = this.#isExact ? characterForEach(bytes) : undefined;
    emit(text, end, { partial, continues: this.#begun, bytes: exact });
  }
}

function characterForEach(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 8192) {
    text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  }
  return text;
}

/** How many of the bytes are whole UTF-8 characters; all if the last ones are none at all. */
export function wholeCharacters(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back]!;
    if ((byte & 0xc0) === 0x80) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

/** Shared buffer: not used after `add()` returns. */
const scratch = new Uint8Array(160 * 1024);

function joined(one: Uint8Array, other: Uint8Array): Uint8Array {
  const length = one.length + other.length;
  const all = length <= scratch.length ? scratch.subarray(0, length) : new Uint8Array(length);
  all.set(one);
  all.set(other, one.length);
  return all;
}

/** Moves a cut back to the start of a UTF-8 character, which has at most 4 bytes. */
function characterStart(bytes: Uint8Array, at: number): number {
  for (let back = 0; back < 4; back++) if ((bytes[at - back]! & 0xc0) !== 0x80) return at - back;
  return at;
}
