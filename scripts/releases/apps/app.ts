// A server of Deno with a port of its own, which it shares with its successor. It drains at
// SIGTERM, except where it hangs.
const { KIND = "old", PORT, ACCEPTED, PROCSUP_INSTANCE: INSTANCE } = Deno.env.toObject();
const begun = Date.now();

if (KIND === "crash") Deno.exit(1);
if (KIND === "exit") Deno.exit(0);

function answer(_: Request, { remoteAddr }: Deno.ServeHandlerInfo<Deno.NetAddr>) {
  if (ACCEPTED) Deno.writeTextFileSync(ACCEPTED, `${remoteAddr.port}\n`, { append: true });
  if (KIND === "silent") return new Promise<Response>(() => {});
  const isBad = KIND === "bad" || (KIND === "bad_later" && Date.now() - begun > 3000);
  return new Response(`${KIND} ${INSTANCE} ${Deno.pid}`, { status: isBad ? 503 : 200 });
}

function listen(port: number): void {
  const options = { port, hostname: "127.0.0.1", reusePort: true, onListen() {} };
  const server = Deno.serve(options, answer);
  if (KIND === "hangs") return;
  Deno.addSignalListener("SIGTERM", () => void server.shutdown().then(() => Deno.exit()));
}

if (KIND === "deaf") setInterval(() => {}, 1000);
else if (KIND === "slow") setTimeout(() => listen(Number(PORT)), 2000);
else listen(Number(PORT) + (KIND === "other_port" ? 20_000 : 0));

if (KIND === "crash_later") setTimeout(() => Deno.exit(1), 2000);
if (KIND === "hangs") Deno.addSignalListener("SIGTERM", () => {});
if (KIND === "memory") {
  const eaten: Uint8Array[] = [];
  setInterval(() => eaten.push(new Uint8Array(20 * 1024 * 1024).fill(1)), 100);
}
