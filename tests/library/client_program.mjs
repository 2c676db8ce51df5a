// deno-lint-ignore-file no-console
// Run by runtimes_test.ts under each runtime: module, home, URL, token, and a word for its names.
import { pathToFileURL } from "node:url";

const [, , module, home, url, token, word] = process.argv;
const { Client, freePort, ProcsupError, waitForPort } = await import(pathToFileURL(module));

for (const options of [{ home }, { url, token }]) {
  const client = new Client(options);
  const web = await client.start({ name: `web-${word}`, command: "sleep 1000", minUptime: "1ms" }, {
    wait: true,
  });
  say(web.state, web.pid > 0, web.info.config.minUptimeMs);
  say(await client.run({ command: "sh -c 'echo out; echo err >&2; exit 3'" }));
  const talk = await client.start({
    name: `talk-${word}`,
    command: "sh -c 'echo hi; exec sleep 1000'",
  });
  for await (const { line, stream, at } of talk.lines({ follow: true })) {
    say(line, stream, at instanceof Date);
    break;
  }
  const events = await client.events({ target: web.name });
  await web.restart();
  for await (const { type, name } of events) {
    say(type, name === web.name);
    break;
  }
  const stop = new AbortController();
  const rest = Array.fromAsync(
    talk.lines({ follow: true, newOnly: true, signal: stop.signal }),
  );
  await client.ping();
  stop.abort();
  say(await rest);
  await talk.remove();
  await web.remove();
  await says(() => client.inspect("nobody"));
  await says(() => client.start({ name: "x", command: "true", maxRestrts: 1 }));
}
await says(() => new Client({ home: "/nowhere" }).list());
await says(async () => await waitForPort(await freePort(), { timeout: "60ms" }));

function say(...values) {
  console.log(JSON.stringify(values));
}

async function says(act) {
  await act().catch((error) => say(error instanceof ProcsupError, error.code));
}
