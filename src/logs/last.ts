/** The last of many, as they pass by. */

/** Keeps the last of many. */
export class Last<T> {
  readonly #sizeOf: (item: T) => number;
  readonly #count: number;
  readonly #maxSize: number;
  #kept: T[] = [];
  #first = 0;
  #size = 0;

  /** Keeps `count` at most, and of one that has `maxSize` alone that one. */
  constructor(sizeOf: (item: T) => number, count: number, maxSize: number) {
    this.#sizeOf = sizeOf;
    this.#count = count;
    this.#maxSize = maxSize;
  }

  /** What is kept, in its order. */
  get items(): T[] {
    return this.#kept.slice(this.#first);
  }

  /** Whether the next one takes the place of another. */
  get isFull(): boolean {
    return this.#kept.length - this.#first >= this.#count || this.#size >= this.#maxSize;
  }

  /** The next one. */
  add(item: T): void {
    const kept = this.#kept;
    kept.push(item);
    this.#size += this.#sizeOf(item);
    const left = () => kept.length - this.#first;
    while (left() > this.#count || (this.#size > this.#maxSize && left() > 1)) {
      this.#size -= this.#sizeOf(kept[this.#first++]!);
    }
    if (this.#first <= this.#count) return;
    kept.splice(0, this.#first);
    this.#first = 0;
  }
}
