/** The nearest known word to a mistyped one. */

/** Longer words are not compared: the time grows with the product of both lengths. */
const MAX_LENGTH = 256;

/**
 * The candidate within an edit distance of 2 of `word` (1 for short words) that has a letter in
 * common with it, or the only one that begins with it; undefined without one.
 */
export function nearestWord(word: string, known: Iterable<string>): string | undefined {
  if (word.length > MAX_LENGTH) return undefined;
  const candidates = [...known];
  const allowed = word.length <= 4 ? 1 : 2;
  let best: string | undefined;
  let bestDistance = allowed + 1;
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - word.length) > allowed) continue;
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase());
    if (distance < Math.min(bestDistance, Math.max(1, word.length, candidate.length))) {
      [best, bestDistance] = [candidate, distance];
    }
  }
  return best ?? completed(word, candidates);
}

/** Of the candidates that begin with `word`, the one that is a prefix of all others. */
function completed(word: string, candidates: readonly string[]): string | undefined {
  if (word.length < 2) return undefined;
  const found = candidates.filter((one) => one.toLowerCase().startsWith(word.toLowerCase()));
  return found.find((one) => found.every((other) => other.startsWith(one)));
}

/** Appends the suggested word to a message. */
export function withNearest(message: string, near: string | undefined): string {
  return near === undefined ? message : `${message}: ${didYouMean(near)}`;
}

export function didYouMean(near: string): string {
  return `did you mean "${near}"?`;
}

/** Levenshtein distance in which swapping two neighbors counts as one edit. */
function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let cost = Math.min(previous[j]! + 1, row[j - 1]! + 1, previous[j - 1]! + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        cost = Math.min(cost, before[j - 2]! + 1);
      }
      row.push(cost);
    }
    [before, previous] = [previous, row];
  }
  return previous[b.length]!;
}
