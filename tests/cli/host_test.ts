import { assertEquals, assertMatch, assertThrows } from "@std/assert";
import { ProcsupError } from "../../src/model/errors.ts";
import { forwarding } from "../../src/cli/commands/web.ts";
import { checkDestination } from "../../src/contexts/ssh.ts";
import { cliIn } from "../support/procsup.ts";
import { tempHome } from "../support/temp_home.ts";

Deno.test("checkDestination() accepts what ssh accepts, and nothing that ssh or a shell could misread", () => {
  const good = [
    "web1",
    "deploy@web1.example.com",
    "ssh://deploy@web1:2222",
    "ssh://[::1]:22/",
    "::1",
  ];
  for (const text of good) checkDestination(text);
  const bad = [
    "",
    "-oProxyCommand=id",
    "-l@web1",
    "ssh://-oProxyCommand=id",
    "a@-oX",
    "a b",
    "a;b",
  ];
  for (
    const text of [...bad, "$(id)@web1", "web1:22", "a\nb", "ssh://web1:22x", "ssh://web1/path"]
  ) {
    assertThrows(() => checkDestination(text), ProcsupError, "Invalid host");
  }
});

Deno.test("dial-stdio ends without an error when the other end closes the connection", async () => {
  await using home = tempHome();
  const { code, stdout, stderr } = await cliIn(home.path, {}, "dial-stdio");
  assertEquals([code, stderr], [0, ""]);
  assertMatch(stdout, /^procsup-dial \{.*\}\n$/);
});

Deno.test("forwarding() quotes what another machine says", () => {
  assertEquals(
    forwarding("http://127.0.0.1:9615/#code=1", "deploy@web1"),
    "ssh -L 9615:127.0.0.1:9615 deploy@web1",
  );
  assertEquals(
    forwarding("http://127.$(id)&:9615/", "web1;id"),
    "ssh -L '9615:127.$(id)&:9615' 'web1;id'",
  );
});
