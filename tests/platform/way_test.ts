/** Whether another user could replace a folder on a path. */

import { assertEquals } from "@std/assert";
import { openLibc } from "../../src/platform/libc.ts";
import { sharedFileProblem, wayProblem } from "../../src/platform/files/way.ts";
import { tempHome } from "../support/temp_home.ts";

const ignore = Deno.uid() !== 0;
const BOB = 65532;

Deno.test("wayProblem() accepts folders and links of root and our own, and sticky folders", async () => {
  await using temp = tempHome();
  const path = temp.path;
  Deno.mkdirSync(`${path}/real/a`, { recursive: true });
  Deno.mkdirSync(`${path}/all`);
  Deno.chmodSync(`${path}/all`, 0o1777);
  Deno.symlinkSync("../real", `${path}/all/relative`);
  Deno.symlinkSync(`${path}/all/relative/.`, `${path}/absolute`);
  for (const way of ["real/a", "all/relative/a", "absolute/a", "absolute/../all", "none/there"]) {
    assertEquals(wayProblem(`${path}/${way}`), undefined, way);
  }
  assertEquals(wayProblem("/"), undefined);
});

Deno.test("wayProblem() names a world-writable folder, also behind links", async () => {
  await using temp = tempHome();
  const open = `${temp.path}/open`;
  Deno.mkdirSync(`${open}/a`, { recursive: true });
  Deno.symlinkSync("open/a", `${temp.path}/link`);
  for (const mode of [0o777, 0o702]) {
    Deno.chmodSync(open, mode);
    for (const way of [`${open}/a`, `${open}/none`, `${temp.path}/link`, `${open}/..`]) {
      assertEquals(wayProblem(way), `others may write to "${open}"`);
    }
  }
  // The last folder has its own check.
  assertEquals(wayProblem(open), undefined);
  Deno.symlinkSync("circle", `${temp.path}/circle`);
  const circle = `${temp.path}/circle`;
  assertEquals(wayProblem(`${circle}/a`), `the links at "${circle}" lead in a circle`);
  Deno.writeTextFileSync(`${temp.path}/file`, "");
  assertEquals(wayProblem(`${temp.path}/file`), undefined);
  assertEquals(wayProblem(`${temp.path}/file/a`), `"${temp.path}/file" is not a directory`);
});

Deno.test(
  "wayProblem() names what another user's group, folder or link would allow",
  { ignore },
  async () => {
    await using temp = tempHome();
    const path = temp.path;
    Deno.mkdirSync(`${path}/group/a`, { recursive: true });
    Deno.chmodSync(`${path}/group`, 0o770);
    assertEquals(wayProblem(`${path}/group/a`), undefined);
    Deno.chownSync(`${path}/group`, 0, BOB);
    assertEquals(wayProblem(`${path}/group/a`), `others may write to "${path}/group"`);
    Deno.mkdirSync(`${path}/bob/a`, { recursive: true });
    Deno.chownSync(`${path}/bob`, BOB, BOB);
    assertEquals(wayProblem(`${path}/bob/a`), `"${path}/bob" belongs to user ${BOB}`);
    assertEquals(wayProblem(`${path}/bob/none`), `"${path}/bob" belongs to user ${BOB}`);
    const link = `${path}/link`;
    Deno.symlinkSync(`${path}/group`, link);
    assertEquals(
      (await new Deno.Command("chown", { args: ["-h", `${BOB}`, link] }).output()).code,
      0,
    );
    assertEquals(wayProblem(`${link}/a`), `"${link}" belongs to user ${BOB}`);
  },
);

const SYMBOLS = {
  setxattr: { parameters: ["buffer", "buffer", "buffer", "usize", "i32"], result: "i32" },
} as const satisfies Deno.ForeignLibraryInterface;

/** Gives a folder an access control list with an entry for one user, as setfacl does. */
function allow(folder: string, user: number, permissions: number): boolean {
  const entries = [[1, 7, -1], [2, permissions, user], [4, 5, -1], [16, 7, -1], [32, 5, -1]];
  const list = new DataView(new ArrayBuffer(4 + 8 * entries.length));
  list.setUint32(0, 2, true);
  for (const [index, [tag, bits, id]] of entries.entries()) {
    list.setUint16(4 + 8 * index, tag!, true);
    list.setUint16(6 + 8 * index, bits!, true);
    list.setInt32(8 + 8 * index, id!, true);
  }
  const [path, name] = [folder, "system.posix_acl_access"].map((text) =>
    new TextEncoder().encode(`${text}\0`)
  );
  const bytes = new Uint8Array(list.buffer);
  const { setxattr } = openLibc(SYMBOLS);
  return setxattr(path!, name!, bytes, BigInt(bytes.length), 0) === 0;
}

Deno.test({
  name: "wayProblem() and sharedFileProblem() name a folder whose list lets another user write",
  ignore,
  async fn() {
    await using temp = tempHome();
    const folder = `${temp.path}/listed`;
    Deno.mkdirSync(`${folder}/a`, { recursive: true });
    Deno.chownSync(folder, 0, 0);
    // Some file systems have no such lists.
    if (!allow(folder, BOB, 7)) return;
    const problem = `others may write to "${folder}"`;
    assertEquals([wayProblem(`${folder}/a`), sharedFileProblem(`${folder}/log`)], [
      problem,
      problem,
    ]);
    for (const [user, permissions] of [[BOB, 5], [0, 7]] as const) {
      allow(folder, user, permissions);
      assertEquals(sharedFileProblem(`${folder}/log`), undefined);
    }
  },
});
