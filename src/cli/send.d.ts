/** What we use of the package `send`, which has no types. */

import type { IncomingMessage, ServerResponse } from "node:http";

interface Sending {
  on(event: "error", act: (error: { readonly status: number }) => void): Sending;
  pipe(response: ServerResponse): ServerResponse;
}

export default function send(
  request: IncomingMessage,
  path: string,
  options: { index: false; dotfiles: "allow" },
): Sending;
