/** A real receiver of webhooks, which verifies messages with the library of Standard Webhooks. */

import { Webhook } from "standardwebhooks";

/** A signing secret. */
export const SECRET: string = `whsec_${btoa("0123456789abcdefghijklmnopqrstuv")}`;

/** A received request. */
export interface Received {
  readonly id: string;
  /** True if the signature is valid, otherwise the error. */
  readonly signed: true | string;
  // deno-lint-ignore no-explicit-any
  readonly body: any;
  readonly path: string;
}

/** The answer to the request with this index, from 0; "hang" never answers. */
export type Answer = (index: number) => number | "hang" | Response;

export class Receiver implements AsyncDisposable {
  /** All requests, in order. */
  readonly got: Received[] = [];
  readonly url: string;
  /** May be changed at any time. */
  answer: Answer;
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  readonly #over = new AbortController();

  constructor(answer: Answer = () => 200, port = 0) {
    this.answer = answer;
    this.#server = Deno.serve(
      { hostname: "127.0.0.1", port, onListen: () => {}, signal: this.#over.signal },
      (request) => this.#receive(request),
    );
    this.url = `http://127.0.0.1:${this.#server.addr.port}`;
  }

  /** Bodies of one event type. */
  of(type: string) {
    return this.got.map(({ body }) => body).filter((body) => body.type === type);
  }

  async #receive(request: Request): Promise<Response> {
    const text = await request.text();
    const id = request.headers.get("webhook-id") ?? "";
    const { pathname: path } = new URL(request.url);
    this.got.push({ id, signed: verified(text, request.headers), body: JSON.parse(text), path });
    const answer = this.answer(this.got.length - 1);
    if (answer === "hang") {
      await new Promise((resolve) => this.#over.signal.addEventListener("abort", resolve));
    }
    return answer instanceof Response
      ? answer
      : new Response(null, { status: answer === "hang" ? 500 : answer });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort();
    await this.#server.finished;
  }
}

function verified(text: string, headers: Headers): true | string {
  try {
    new Webhook(SECRET).verify(text, Object.fromEntries(headers));
    return true;
  } catch (error) {
    return (error as Error).message;
  }
}
