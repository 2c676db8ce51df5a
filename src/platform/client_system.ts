/** What a client needs from its runtime: Deno, Node.js or Bun. Nothing is called at import. */

import { nodeModule } from "./os.ts";

/** A connection to a Unix socket. */
export interface Connection {
  /** Reads into `into`. Resolves with the number of bytes; null at the end. */
  read(into: Uint8Array): Promise<number | null>;
  /** Number of bytes written. */
  write(bytes: Uint8Array): Promise<number>;
  close(): void;
}

interface ClientSystem {
  env(name: string): string | undefined;
  cwd(): string;
  readText(path: string): string;
  connect(path: string): Promise<Connection>;
}

const IN_DENO: ClientSystem = {
  env: (name) => Deno.env.get(name),
  cwd: () => Deno.cwd(),
  readText: (path) => Deno.readTextFileSync(path),
  connect: (path) => Deno.connect({ transport: "unix", path }),
};

interface NodeProcess {
  readonly env: Readonly<Record<string, string | undefined>>;
  cwd(): string;
}

interface NodeFs {
  readFileSync(path: string, encoding: "utf8"): string;
}

interface NodeNet {
  connect(options: { path: string }): NodeSocket;
}

interface NodeSocket extends AsyncIterable<Uint8Array> {
  on(event: "connect" | "error", listener: (error: Error) => void): void;
  write(bytes: Uint8Array, done: (error?: Error | null) => void): void;
  destroy(): void;
}

function inNode(): ClientSystem {
  const { process } = globalThis as unknown as { process: NodeProcess };
  return {
    env: (name) => process.env[name],
    cwd: () => process.cwd(),
    readText: (path) => nodeModule<NodeFs>("node:fs").readFileSync(path, "utf8"),
    connect: (path) =>
      new Promise((resolve, reject) => {
        const socket = nodeModule<NodeNet>("node:net").connect({ path });
        socket.on("error", reject);
        socket.on("connect", () => resolve(nodeConnection(socket)));
      }),
  };
}

function nodeConnection(socket: NodeSocket): Connection {
  const chunks = socket[Symbol.asyncIterator]();
  let rest: Uint8Array = new Uint8Array(0);
  let closed = false;
  return {
    async read(into) {
      if (rest.length === 0) {
        const { done, value } = await chunks.next().catch((error) => {
          throw closed ? Object.assign(new Error("Closed"), { name: "BadResource" }) : error;
        });
        if (done) return null;
        rest = value;
      }
      const part = rest.subarray(0, into.length);
      into.set(part);
      rest = rest.subarray(part.length);
      return part.length;
    },
    write: (bytes) =>
      new Promise((resolve, reject) =>
        socket.write(bytes, (error) => error ? reject(error) : resolve(bytes.length))
      ),
    close() {
      closed = true;
      socket.destroy();
    },
  };
}

export function clientSystem(): ClientSystem {
  return "Deno" in globalThis ? IN_DENO : inNode();
}

const CODES = {
  BadResource: "EBADF",
  NotFound: "ENOENT",
  PermissionDenied: "EACCES",
  WouldBlock: "EAGAIN",
};

/** Whether an error is the system error of this name in Deno, whichever runtime threw it. */
export function isSystemError(error: unknown, name: keyof typeof CODES): boolean {
  if (!(error instanceof Error)) return false;
  return error.name === name || (error as { code?: unknown }).code === CODES[name];
}
