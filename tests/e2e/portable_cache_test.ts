/** Where the portable executable unpacks, with a fake Deno and program as its payload. */

import { assertEquals, assertMatch } from "@std/assert";
import { join } from "../../scripts/compile/portable.ts";
import { tempHome } from "../support/temp_home.ts";

const ignore = Deno.uid() !== 0;
const BOB = 65532;

/** A folder open to all, with an executable in it. */
class Scene implements AsyncDisposable {
  readonly #temp = tempHome();
  readonly path = this.#temp.path;

  static async make(): Promise<Scene> {
    const scene = new Scene();
    const { path } = scene;
    Deno.chmodSync(path, 0o755);
    Deno.mkdirSync(`${path}/home`);
    Deno.mkdirSync(`${path}/files`);
    Deno.writeTextFileSync(`${path}/files/deno`, '#!/bin/sh\necho "$0"\n', { mode: 0o755 });
    Deno.writeTextFileSync(`${path}/files/portable_entry.js`, "");
    Deno.writeTextFileSync(`${path}/files/.mark`, "");
    const tar = ["-czf", "../payload", "--mtime=@0", ".mark", "deno", "portable_entry.js"];
    await scene.#run("tar", tar, { cwd: `${path}/files` });
    await join(`${path}/payload`, `${path}/procsup`, { FILES: "2", UNPACK: "gzip -dc" });
    return scene;
  }

  /** Runs it, and returns which Deno ran, or the error. */
  async run(env: Record<string, string>, uid = 0): Promise<string> {
    const { PATH } = Deno.env.toObject();
    const args = [`--reuid=${uid}`, `--regid=${uid}`, "--clear-groups", `${this.path}/procsup`];
    return await this.#run("setpriv", args, { clearEnv: true, env: { PATH: PATH!, ...env } });
  }

  /** Creates a folder, by default of root. */
  folder(name: string, mode: number, uid = 0): string {
    const path = `${this.path}/${name}`;
    Deno.mkdirSync(path);
    Deno.chmodSync(path, mode);
    Deno.chownSync(path, uid, uid);
    return path;
  }

  async #run(program: string, args: string[], options: Deno.CommandOptions): Promise<string> {
    const { stdout, stderr } = await new Deno.Command(program, { ...options, args }).output();
    return new TextDecoder().decode(new Uint8Array([...stdout, ...stderr]));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#temp[Symbol.asyncDispose]();
  }
}

function modeOf(path: string): number {
  return Deno.lstatSync(path).mode! & 0o7777;
}

Deno.test("portable form unpacks below HOME, or to PROCSUP_CACHE", { ignore }, async () => {
  await using scene = await Scene.make();
  const HOME = `${scene.path}/home`;
  const below = (folder: string) => new RegExp(`^${folder}/[0-9a-f]{64}/deno\n$`);
  for (const _ of ["unpacks", "is there"]) {
    assertMatch(await scene.run({ HOME }), below(`${HOME}/.cache/procsup`));
  }
  assertEquals(modeOf(`${HOME}/.cache/procsup`), 0o700);
  const shared = scene.folder("shared", 0o1777);
  assertMatch(await scene.run({ HOME, PROCSUP_CACHE: `${shared}/own` }), below(`${shared}/own`));
  Deno.symlinkSync(HOME, `${scene.path}/link`);
  const link = { PROCSUP_CACHE: `${scene.path}/link/elsewhere` };
  assertMatch(await scene.run(link), below(`${HOME}/elsewhere`));
  // A user, and one whose own group may write to her home.
  const bob = scene.folder("bob", 0o775, BOB);
  assertMatch(await scene.run({ HOME: bob }, BOB), below(`${bob}/.cache/procsup`));
  assertMatch(
    await scene.run({ HOME, PROCSUP_CACHE: `${shared}/bob` }, BOB),
    below(`${shared}/bob`),
  );
});

Deno.test("portable form changes no folder that it did not create", { ignore }, async () => {
  await using scene = await Scene.make();
  const cache = scene.folder("tmp", 0o1777);
  assertMatch(await scene.run({ PROCSUP_CACHE: cache }), new RegExp(`^${cache}/`));
  assertEquals(modeOf(cache), 0o1777);
});

Deno.test(
  "portable form runs nothing from a folder that others can modify",
  { ignore },
  async () => {
    await using scene = await Scene.make();
    const bob = scene.folder("bob", 0o755, BOB);
    Deno.symlinkSync(`${scene.path}/home`, `${bob}/link`);
    const open = scene.folder("open", 0o777);
    const group = scene.folder("group", 0o775);
    Deno.chownSync(group, 0, BOB);
    const attacks: [Record<string, string>, string][] = [
      [{ HOME: bob }, bob],
      [{ PROCSUP_CACHE: `${bob}/new/cache` }, bob],
      [{ PROCSUP_CACHE: `${open}/cache` }, open],
      [{ PROCSUP_CACHE: open }, open],
      [{ PROCSUP_CACHE: `${group}/cache` }, group],
    ];
    for (const [env, folder] of attacks) {
      const says =
        `other users may change ${folder}\n  hint: set PROCSUP_CACHE to a folder of your own; with sudo: sudo -H`;
      assertMatch(await scene.run(env), new RegExp(`^error: Refusing .*: ${says}\n$`));
      assertEquals(
        [...Deno.readDirSync(folder)].map(({ name }) => name).filter((n) => n !== "link"),
        [],
      );
    }
    // It is already unpacked when another user replaces a folder on the path.
    const cache = `${scene.path}/later/cache`;
    scene.folder("later", 0o755);
    await scene.run({ PROCSUP_CACHE: cache });
    Deno.chownSync(`${scene.path}/later`, BOB, BOB);
    assertMatch(await scene.run({ PROCSUP_CACHE: cache }), /other users may change .*\/later\n/);
  },
);
