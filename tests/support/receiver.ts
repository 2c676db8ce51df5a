/** A real receiver of webhooks, which verifies what it gets by the library of Standard Webhooks. */

import { Webhook } from "standardwebhooks";

/** A secret of the kind that receivers are given. */
export const SECRET: string = `whsec_${btoa("0123456789abcdefghijklmnopqrstuv")}`;

/** What came in one request. */
export interface Received {
  readonly id: string;
  /** Whether the signature is right, or why not. */
  readonly signed: true | string;
  // deno-lint-ignore no-explicit-any
  readonly body: any;
  readonly path: string;
}

/** What it answers to the request of that number, from 0 on; "hang" never answers. */
export type Answer = (index: number) => number | "hang" | Response;

/** The receiver. */
export class Receiver implements AsyncDisposable {
  /** Every request, in their order. */
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

  /** Bodies of one event. */
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
