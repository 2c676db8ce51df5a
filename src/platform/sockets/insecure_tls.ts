/** TLS without a check of the certificate, which only Node's modules have. */

import type { Connection } from "./http_answer.ts";
import { nodeModule } from "../os.ts";

/** The used part of a stream of Node. */
interface NodeStream {
  once(event: "secureConnect" | "close", act: () => void): void;
  on(event: "error", act: (error: Error) => void): void;
  write(bytes: Uint8Array, done: (error?: Error | null) => void): void;
  destroy(): void;
  [Symbol.asyncIterator](): AsyncIterator<Uint8Array>;
}

interface TlsModule {
  connect(options: Readonly<Record<string, unknown>>): NodeStream;
}

interface StreamModule {
  readonly Duplex: {
    fromWeb(pair: Pick<Deno.Conn, "readable" | "writable">): NodeStream;
  };
}

/**
 * Encrypts a connection, whoever is at its other end. Closing the result closes it, too. The first
 * use loads modules, which takes 30 ms and 5 MB.
 */
export async function withoutVerification(
  plain: Deno.Conn,
  hostname: string,
): Promise<Connection> {
  const { connect } = nodeModule<TlsModule>("node:tls");
  const socket = nodeModule<StreamModule>("node:stream").Duplex.fromWeb(plain);
  const isAddress = /^[\d.]+$|:/.test(hostname);
  const stream = connect({
    ...{ socket, rejectUnauthorized: false, ALPNProtocols: ["http/1.1"] },
    ...!isAddress && { servername: hostname },
  });
  await new Promise<void>((resolve, reject) => {
    stream.once("secureConnect", resolve);
    stream.on("error", reject);
    socket.on("error", reject);
    stream.once("close", () => reject(new Error("it closed the connection")));
  });
  const pieces = stream[Symbol.asyncIterator]();
  let rest = new Uint8Array();
  return {
    async read(into) {
      if (rest.length === 0) {
        const { done, value } = await pieces.next();
        if (done) return null;
        rest = Uint8Array.from(value);
      }
      const piece = rest.subarray(0, into.length);
      rest = rest.subarray(piece.length);
      into.set(piece);
      return piece.length;
    },
    write: (bytes) =>
      new Promise((resolve, reject) => {
        stream.write(bytes, (error) => error ? reject(error) : resolve(bytes.length));
      }),
    close: () => {
      stream.destroy();
      socket.destroy();
    },
  };
}
