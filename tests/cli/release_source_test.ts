/** What `release --from` takes, and the commands that fetch it. */

import { assertEquals, assertThrows } from "@std/assert";
import { fetchCommands, onlyAbsolute, parseSource } from "../../src/cli/release/source.ts";
import { ProcsupError } from "../../src/model/errors.ts";
import { inRelease, keptInRelease, releasePlace } from "../../src/model/release_folder.ts";

const parse = (text: string) => parseSource(text, (path) => `/here/${path}`);

Deno.test("parseSource() tells repositories from folders", () => {
  const git = (url: string, ref = "HEAD") => ({ kind: "git" as const, url, ref });
  const rsync = (path: string) => ({ kind: "rsync" as const, path });
  assertEquals(parse("git@example.com:shop.git#v2"), git("git@example.com:shop.git", "v2"));
  assertEquals(parse("git@example.com:shop"), git("git@example.com:shop"));
  assertEquals(parse("ssh://git@example.com:22/shop"), git("ssh://git@example.com:22/shop"));
  assertEquals(parse("https://a.example/b#fix/x-1"), git("https://a.example/b", "fix/x-1"));
  assertEquals(parse("shop.git"), git("/here/shop.git"));
  assertEquals(parse("web1:/srv/build"), rsync("web1:/srv/build"));
  assertEquals(parse("me@web1:build"), rsync("me@web1:build"));
  assertEquals(parse("dist"), rsync("/here/dist"));
});

Deno.test("parseSource() refuses what git, rsync, ssh or a shell could take for something else", () => {
  const refused = [
    ...["--upload-pack=touch x", "-oProxyCommand=x:/y", "a@-oProxyCommand=x:/y", "web1:-x"],
    ...["ext::sh -c x", "git+ext::x", "fd::7", "host::module", "a b:/x", "$(x):/y", "dist\nx"],
    ...["ssh://-oProxyCommand=x/y.git", "ssh://me@-ox/y.git", "ftp://a/b.git", "dist\x1b[0m"],
    ...["a.git#", "a.git#--upload-pack=x", "a.git#v1 x", "a.git#+refs/a:refs/b", "a.git#a..b"],
  ];
  for (const text of refused) {
    const { code } = assertThrows(() => parse(text), ProcsupError);
    assertEquals(code, "bad_request", text);
  }
  assertThrows(() => parseSource("dist", onlyAbsolute), ProcsupError, "a relative path");
  assertEquals(parseSource("/dist", onlyAbsolute), { kind: "rsync", path: "/dist" });
});

Deno.test("fetchCommands() puts what was given behind --", () => {
  const words = (text: string) =>
    fetchCommands(parse(text), "/srv/releases/1").map((one) => one.join(" "));
  assertEquals(words("web1:a"), ["rsync -rlpt -s -- web1:a/ /srv/releases/1/"]);
  assertEquals(
    words("file:///a.git#v1")[1],
    "git -C /srv/releases/1 fetch -q --depth 1 -- file:///a.git v1",
  );
});

Deno.test("inRelease() moves what lies in the folder of the app, and a file's configuration stays there", () => {
  const first = { cwd: "/srv/shop", entrypoint: "/srv/shop/app.sh" };
  const second = { cwd: "/srv/shop/releases/2", entrypoint: "/srv/shop/releases/2/app.sh" };
  assertEquals(inRelease(first, 2), second);
  assertEquals(inRelease(second, 13).entrypoint, "/srv/shop/releases/13/app.sh");
  assertEquals(inRelease(second, undefined), first);
  assertEquals(inRelease({ ...first, entrypoint: "/usr/bin/node" }, 2).entrypoint, "/usr/bin/node");
  assertEquals(keptInRelease(first, second.cwd), second);
  assertEquals(keptInRelease(first, "/srv/other/releases/2"), first);
  assertEquals(keptInRelease(first, undefined), first);
  assertEquals(releasePlace("/srv/releases/0"), { base: "/srv/releases/0" });
});
