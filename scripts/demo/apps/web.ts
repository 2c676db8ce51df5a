/** A small web server. */

const startedAt = Date.now();

Deno.serve({ port: Number(Deno.env.get("PORT")), hostname: "127.0.0.1" }, () => {
  const seconds = ((Date.now() - startedAt) / 1000).toFixed(1);
  return new Response(`hello from pid ${Deno.pid}, up for ${seconds}s\n`);
});
