/** From bytes to lines, whatever the bytes are. */

/** The longest piece of a line, in UTF-16 units. */
const MAX_PIECE = 64 * 1024;

/**
 * Splits bytes into lines without their `\n` or `\r\n`. Characters may be split over chunks; bytes
 * that are no UTF-8 become U+FFFD. A line over 64 Ki characters comes in pieces of that size. What
 * stands after the last newline is a line, too, unless it is empty.
 */
export function lineStream(): TransformStream<Uint8Array, string> {
  const decoder = new TextDecoder();
  const lines = new LineSplitter();
  return new TransformStream<Uint8Array, string>({
    transform(chunk, controller) {
      lines.add(decoder.decode(chunk, { stream: true }), (line) => controller.enqueue(line));
    },
    flush(controller) {
      lines.add(decoder.decode(), (line) => controller.enqueue(line));
      lines.end((line) => controller.enqueue(line));
    },
  });
}

type Emit = (line: string) => void;

class LineSplitter {
  #rest = "";
  /** A piece of the line that `#rest` belongs to has been given. */
  #begun = false;

  add(text: string, emit: Emit): void {
    const all = this.#rest + text;
    let from = 0;
    // The part kept from before holds no newline.
    let newline = all.indexOf("\n", this.#rest.length);
    while (newline >= 0) {
      this.#emitEnd(this.#emitPieces(all.slice(from, newline), emit), emit);
      from = newline + 1;
      newline = all.indexOf("\n", from);
    }
    this.#rest = this.#emitPieces(all.slice(from), emit);
  }

  end(emit: Emit): void {
    if (this.#rest !== "") this.#emitEnd(this.#rest, emit);
    this.#rest = "";
  }

  /** Gives whole pieces while there are more than one; what is left of the line. */
  #emitPieces(text: string, emit: Emit): string {
    let from = 0;
    while (text.length - from > MAX_PIECE) {
      const to = from + MAX_PIECE -
        (isHighSurrogate(text.charCodeAt(from + MAX_PIECE - 1)) ? 1 : 0);
      emit(text.slice(from, to));
      this.#begun = true;
      from = to;
    }
    return text.slice(from);
  }

  #emitEnd(text: string, emit: Emit): void {
    const line = text.endsWith("\r") ? text.slice(0, -1) : text;
    if (line !== "" || !this.#begun) emit(line);
    this.#begun = false;
  }
}

/** The first half of a character: the cut must not go through it. */
function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
