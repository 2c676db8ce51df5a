/**
 * Prepares standard input for the SDK's transport, which ignores invalid messages: they are answered
 * here. Batches (protocol 2025-03-26) are split.
 */

import { type Readable, Transform } from "node:stream";
import {
  JSONRPC_VERSION,
  parseJSONRPCMessage,
  ProtocolErrorCode,
  STDIO_DEFAULT_MAX_BUFFER_SIZE,
} from "@modelcontextprotocol/server";

/** Requests that were not answered yet. */
export class OpenRequests {
  readonly #ids = new Set<unknown>();
  #none = Promise.withResolvers<void>();

  received({ id, method, params }: Message): void {
    if (method === "notifications/cancelled") this.answered(params?.requestId);
    // A subscription stays open as long as the connection.
    else if (id !== undefined && method !== undefined && method !== "subscriptions/listen") {
      this.#ids.add(id);
    }
  }

  answered(id: unknown): void {
    if (this.#ids.delete(id) && this.#ids.size === 0) {
      this.#none.resolve();
      this.#none = Promise.withResolvers();
    }
  }

  async allAnswered(): Promise<void> {
    if (this.#ids.size > 0) await this.#none.promise;
  }
}

interface Message {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: { readonly requestId?: unknown };
}

/**
 * The messages of `input`, one per line. `answer` receives a response line for each invalid one. The
 * stream ends after all requests are answered: at its end the transport drops the others.
 */
export function messagesOf(
  input: Readable,
  open: OpenRequests,
  answer: (line: string) => void,
): Readable {
  let pieces: Uint8Array[] = [];
  let size = 0;
  const take = (line: readonly Uint8Array[]) => {
    for (const message of sorted(textOf(line), answer)) {
      open.received(message);
      messages.push(`${JSON.stringify(message)}\n`);
    }
  };
  const messages = new Transform({
    transform(chunk: Uint8Array, _encoding, done) {
      let from = 0;
      for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
        take([...pieces, chunk.subarray(from, end)]);
        pieces = [];
        size = 0;
        from = end + 1;
      }
      pieces.push(chunk.subarray(from));
      size += chunk.length - from;
      // Pass the oversized line on, so that the transport fails.
      if (size > STDIO_DEFAULT_MAX_BUFFER_SIZE) this.push(Buffer.concat(pieces.splice(0)));
      done();
    },
    flush(done) {
      take(pieces);
      open.allAnswered().then(() => done());
    },
  });
  input.on("error", (error) => messages.destroy(error));
  return input.pipe(messages);
}

/** The valid messages in a line; answers the others. */
function sorted(line: string, answer: (line: string) => void): Message[] {
  if (line.trim() === "") return [];
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    answer(refusal(null, ProtocolErrorCode.ParseError, "Parse error: this line is not JSON"));
    return [];
  }
  if (!Array.isArray(value)) return isMessage(value, answer) ? [value] : [];
  if (value.length === 0) isMessage(undefined, answer);
  return value.filter((one) => isMessage(one, answer));
}

function isMessage(value: unknown, answer: (line: string) => void): value is Message {
  try {
    parseJSONRPCMessage(value);
    return true;
  } catch {
    const words = "Invalid request: this is not a message of JSON-RPC 2.0";
    answer(refusal(idOf(value), ProtocolErrorCode.InvalidRequest, words));
    return false;
  }
}

function idOf(value: unknown): string | number | null {
  const id = (value as { id?: unknown } | null | undefined)?.id;
  return typeof id === "string" || Number.isSafeInteger(id) ? id as string | number : null;
}

function refusal(id: string | number | null, code: number, message: string): string {
  return `${JSON.stringify({ jsonrpc: JSONRPC_VERSION, id, error: { code, message } })}\n`;
}

function textOf(pieces: readonly Uint8Array[]): string {
  const decoder = new TextDecoder();
  return pieces.map((piece) => decoder.decode(piece, { stream: true })).join("") + decoder.decode();
}
