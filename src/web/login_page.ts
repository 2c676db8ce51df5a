/** What somebody is shown whose link does not sign in, where the dashboard's own page may not run. */

import { ERROR_TABLE, type ProcsupError } from "../model/errors.ts";
import { reply } from "./reply.ts";

/** It needs nothing but itself. */
const POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const WORDS = {
  used: "This link has been used already, or is older than a minute.",
  wait: "Too many links that were not good came from here: wait a minute.",
};

/** A page of fixed words: nothing of the request is in it. */
export function loginPage({ code }: ProcsupError): Response {
  const words = code === "rate_limited" ? WORDS.wait : WORDS.used;
  const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>Not signed in · procsup</title>
<main>
<h1>Not signed in</h1>
<p>${words}</p>
<p>For a new link, run this on the machine: <code>procsup web open</code></p>
</main>
</html>
`;
  return reply(page, {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": POLICY,
    "cache-control": "no-store",
  }, ERROR_TABLE[code].http);
}
