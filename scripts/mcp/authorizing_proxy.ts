/** A proxy that adds the token to every request, for programs that cannot. It keeps Host and Origin. */

import http from "node:http";

export interface Proxy extends Disposable {
  readonly url: string;
}

/** Starts a proxy for the web listener at `target`. */
export async function authorizingProxy(target: string, token: string): Promise<Proxy> {
  const { hostname, port } = new URL(target);
  const server = http.createServer((request, response) => {
    const { url, method, headers } = request;
    const onward = http.request({
      hostname,
      port,
      path: url,
      method,
      headers: { ...headers, authorization: `Bearer ${token}` },
    }, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(response);
    });
    onward.on("error", () => response.destroy());
    request.pipe(onward);
  });
  const listening = Promise.withResolvers<void>();
  server.listen(0, "127.0.0.1", () => listening.resolve());
  await listening.promise;
  return {
    url: `http://127.0.0.1:${(server.address() as { port: number }).port}`,
    [Symbol.dispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}
