/** Reads an answer that is one JSON value a line, as it comes. */

/**
 * Hands over the values of a body in batches, one for each piece that arrives. Ends with the body;
 * throws when the connection breaks.
 */
export async function* jsonLines<T>(response: Response): AsyncGenerator<T[]> {
  const reader = response.body!.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const lines = (rest + decoder.decode(value, { stream: true })).split("\n");
      rest = lines.pop()!;
      const values = lines.filter((line) => line !== "").map((line) => JSON.parse(line) as T);
      if (values.length > 0) yield values;
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}
