/** Files that other users may have tampered with. */

import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import {
  actingAs,
  headOfForeignFile,
  readForeignFile,
} from "../../src/platform/files/foreign_file.ts";
import { openLibc } from "../../src/platform/libc.ts";
import { findUser } from "../../src/platform/users/as_user.ts";
import { waitFor } from "../support/wait_for.ts";
import { tempHome } from "../support/temp_home.ts";

const ignore = Deno.build.os !== "linux" || Deno.uid() !== 0;

/** Two ordinary users without an account on the machine. */
const ALICE = { uid: 65533, gid: 65533 };
const BOB = { uid: 65532, gid: 65532 };

/** A folder open to all, with a file of each user. */
function scene() {
  const temp = tempHome();
  Deno.chmodSync(temp.path, 0o755);
  const put = (name: string, { uid, gid }: typeof BOB, mode = 0o600) => {
    const path = `${temp.path}/${name}`;
    Deno.writeTextFileSync(path, name);
    Deno.chmodSync(path, mode);
    Deno.chownSync(path, uid, gid);
    return path;
  };
  return {
    temp,
    put,
    link: (to: string, name: string) => {
      Deno.symlinkSync(to, `${temp.path}/${name}`);
      return `${temp.path}/${name}`;
    },
  };
}

Deno.test("readForeignFile() reads only regular files that are not too large", async () => {
  await using temp = tempHome();
  const text = "é".repeat(20_000);
  Deno.writeTextFileSync(`${temp.path}/file`, text);
  assertEquals(readForeignFile(`${temp.path}/file`), text);
  assertEquals(readForeignFile(`${temp.path}/file`, { maxBytes: 40_000 }), text);
  assertEquals(headOfForeignFile(`${temp.path}/file`, 4), "éé");
  const refused = (path: string, why: string) =>
    assertThrows(() => readForeignFile(path, { maxBytes: 39_999 }), Error, why);
  refused(`${temp.path}/file`, "larger than 39999 bytes");
  refused(temp.path, "it is a folder");
  refused("/dev/null", "it is not a regular file");
  assert((await new Deno.Command("mkfifo", { args: [`${temp.path}/fifo`] }).output()).success);
  refused(`${temp.path}/fifo`, "it is not a regular file");
  refused(`${temp.path}/file\0`, "NUL");
  Deno.writeFileSync(`${temp.path}/latin1`, Uint8Array.of(0x4d, 0xfc));
  refused(`${temp.path}/latin1`, "it is not text in UTF-8");
  assertThrows(() => readForeignFile(`${temp.path}/none`), Deno.errors.NotFound);
});

Deno.test(
  "readForeignFile() reads as a user only what that user may read, through links too",
  { ignore },
  async () => {
    const { temp, put, link } = scene();
    await using _temp = temp;
    const own = put("bob", BOB);
    assertEquals(readForeignFile(own, { as: BOB }), "bob");
    assertEquals(readForeignFile(link(own, "to_own"), { as: BOB }), "bob");
    const refused = (path: string) =>
      assertThrows(() => readForeignFile(path, { as: BOB }), Deno.errors.PermissionDenied, "65532");
    refused(put("alice", ALICE));
    refused(put("root", { uid: 0, gid: 0 }));
    refused(link(`${temp.path}/root`, "to_root"));
    // Root's own group does not apply.
    refused(put("roots_group", { uid: 0, gid: 0 }, 0o640));
    assertEquals(readForeignFile(`${temp.path}/root`), "root");
  },
);

Deno.test(
  "readForeignFile() follows no link through /proc past a closed folder",
  { ignore },
  async () => {
    const { temp, put, link } = scene();
    await using _temp = temp;
    Deno.mkdirSync(`${temp.path}/closed`, { mode: 0o700 });
    put("closed/open_to_all", { uid: 0, gid: 0 }, 0o644);
    using _held = Deno.openSync(`${temp.path}/closed/open_to_all`);
    const fd = [...Deno.readDirSync("/proc/self/fd")].find(({ name }) =>
      linkTo(`/proc/self/fd/${name}`) === `${temp.path}/closed/open_to_all`
    )!;
    for (const to of [`/proc/self/fd/${fd.name}`, `/proc/${Deno.pid}/root${temp.path}/closed`]) {
      const path = link(to, crypto.randomUUID());
      assertThrows(() => readForeignFile(path, { as: BOB }), Deno.errors.FilesystemLoop, "/proc");
    }
  },
);

function linkTo(path: string): string | undefined {
  try {
    return Deno.readLinkSync(path);
  } catch {
    return undefined;
  }
}

/** A user with supplementary groups. */
const member = Deno.readTextFileSync("/etc/group").split("\n").map((row) => row.split(":"))
  .map(([, , gid, users]) => ({ gid: Number(gid), user: findUser(users?.split(",")[0] || "-") }))
  .find(({ gid, user }) => user !== undefined && user.uid !== 0 && user.gid !== gid);

Deno.test("readForeignFile() has all groups of a user with an account", {
  ignore: ignore || member === undefined,
}, async () => {
  const { temp, put } = scene();
  await using _temp = temp;
  const { gid, user } = member!;
  const path = put("for_group", { uid: 0, gid }, 0o640);
  assertEquals(readForeignFile(path, { as: user! }), "for_group");
  const { name: _, ...nameless } = user!;
  assertThrows(() => readForeignFile(path, { as: nameless }), Deno.errors.PermissionDenied);
});

/** The users, groups and capabilities of every thread. */
function rights(): Map<string, string> {
  const tasks = [...Deno.readDirSync("/proc/self/task")].map(({ name }) => {
    const status = Deno.readTextFileSync(`/proc/self/task/${name}/status`);
    return [name, status.match(/^(?:Uid|Gid|Groups|CapEff):.*$/gm)!.join(" ")] as const;
  });
  return new Map(tasks);
}

/** True if other programs of root may inspect this one. */
function isOpenToRoot(): boolean {
  const symbols = { prctl: { parameters: ["i32", "u64"], result: "i32" } } as const;
  return openLibc(symbols).prctl(3, 0n) === 1;
}

Deno.test(
  "actingAs() changes only the calling thread, and only for the time of the call",
  { ignore },
  async () => {
    // This starts other threads.
    await Promise.all([1, 2, 3].map(() => Deno.readTextFile("/etc/passwd")));
    // Retry if a thread of another test in this process has a user's rights at the moment.
    await waitFor(() => {
      const [root, ...others] = new Set(rights().values());
      assertEquals([others, isOpenToRoot()], [[], true]);
      const changed = [...actingAs(BOB, rights)].filter(([, now]) => now !== root);
      assertEquals(`${Deno.pid}/task/${changed[0]![0]}`, Deno.readLinkSync("/proc/thread-self"));
      assertEquals(changed.length, 1);
      assertMatch(changed[0]![1], /Uid:\t0\t0\t0\t65532 Gid:\t0\t0\t0\t65532 Groups:\t\s/);
      assertThrows(() => actingAs(BOB, () => JSON.parse("{")), SyntaxError);
      assertEquals([[...new Set(rights().values())], isOpenToRoot()], [[root], true]);
      return true;
    });
  },
);
