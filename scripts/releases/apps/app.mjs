// A server of Node and, on a shared socket, of Deno. On that it handles no signal, except where it
// hangs; on a port of its own it drains by itself.
import { appendFileSync } from "node:fs";
import http from "node:http";
import process from "node:process";

const { KIND = "old", PORT, ACCEPTED } = process.env;
const begun = Date.now();
const isShared = process.env.LISTEN_FDS !== undefined;
let isEnding = false;
const after = (ms, act) => setTimeout(act, ms);

if (KIND === "crash") process.exit(1);
if (KIND === "exit") process.exit(0);

const server = http.createServer((_request, response) => {
  if (KIND === "silent") return;
  const isBad = KIND === "bad" || (KIND === "bad_later" && Date.now() - begun > 3000);
  response.statusCode = isBad ? 503 : 200;
  if (isEnding) response.shouldKeepAlive = false;
  response.end(`${KIND} ${process.env.PROCSUP_INSTANCE} ${process.pid}`);
});
// Which connections a bad release spoils is known by their ports.
if (ACCEPTED) {
  server.on("connection", (socket) => appendFileSync(ACCEPTED, `${socket.remotePort}\n`));
}
const listen = (port) => server.listen(port, "127.0.0.1");

if (KIND === "deaf") setInterval(() => {}, 1000);
else if (KIND === "slow") after(2000, () => listen(Number(PORT)));
else if (KIND === "other_port") listen(Number(PORT) + 20_000);
else listen(Number(PORT));

if (KIND === "crash_later") after(2000, () => process.exit(1));
if (KIND === "hangs") process.on("SIGTERM", () => {});
else if (!isShared) {
  process.on("SIGTERM", () => {
    isEnding = true;
    server.close(() => process.exit());
  });
}
if (KIND === "memory") {
  const eaten = [];
  setInterval(() => eaten.push(Buffer.alloc(20 * 1024 * 1024, 1)), 100);
}
