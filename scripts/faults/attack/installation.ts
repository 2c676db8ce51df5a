/** Attacks on an installation from outside, or through a folder that others may change. */

import { fromFileUrl } from "@std/path";
import { lstatIfAny } from "../../../src/platform/files/stat.ts";
import { type Attack, BOB, brief, holds, Lacking, run, type Scene, within } from "./scene.ts";

const FIXTURES = fromFileUrl(import.meta.resolve("../../../tests/fixtures/tls/"));
const PATH = "/usr/sbin:/usr/bin:/sbin:/bin";

/** Makes a folder with the needed programs except one. */
function programsWithout(scene: Scene, missing: string): string {
  const folder = `${scene.path}/without-${missing}`;
  Deno.mkdirSync(folder);
  for (const from of ["/usr/bin", "/bin"]) {
    for (const { name } of Deno.readDirSync(from)) {
      const isNew = name !== missing && lstatIfAny(`${folder}/${name}`) === undefined;
      if (isNew) Deno.symlinkSync(`${from}/${name}`, `${folder}/${name}`);
    }
  }
  return folder;
}

/** Runs install.sh against a server that redirects from https to http. */
async function install(scene: Scene, missing: string): Promise<string> {
  const [cert, key] = ["cert.pem", "key.pem"].map((name) => Deno.readTextFileSync(FIXTURES + name));
  const asked: string[] = [];
  await using plain = Deno.serve({ port: 0, onListen: () => {} }, (request) => {
    asked.push(new URL(request.url).pathname);
    return new Response("0000  procsup\n");
  });
  await using secure = Deno.serve(
    { port: 0, onListen: () => {}, cert: cert!, key: key! },
    (request) => {
      const { pathname } = new URL(request.url);
      const location = `http://127.0.0.1:${plain.addr.port}${pathname}`;
      return new Response(null, { status: 302, headers: { location } });
    },
  );
  const folder = programsWithout(scene, missing);
  Deno.writeTextFileSync(`${scene.path}/.wgetrc`, `check_certificate = off\n`);
  Deno.writeTextFileSync(`${scene.path}/.curlrc`, "insecure\n");
  const script = `${scene.sources}/scripts/install.sh`;
  const from = `https://127.0.0.1:${secure.addr.port}`;
  const { text } = await run("sh", {
    args: [script, "--prefix", `${scene.path}/prefix`, "--from", from],
    clearEnv: true,
    env: { HOME: scene.path, PATH: folder },
  });
  holds(asked.length === 0, `asked over http for ${asked.join(", ")}`);
  return brief(text);
}

/** Makes the portable executable with a script in place of Deno. */
async function portable(scene: Scene): Promise<(env: Record<string, string>) => Promise<string>> {
  const { path } = scene;
  Deno.mkdirSync(`${path}/files`);
  Deno.writeTextFileSync(`${path}/files/deno`, '#!/bin/sh\necho "ran $0"\n');
  Deno.chmodSync(`${path}/files/deno`, 0o755);
  for (const name of ["portable_entry.js", ".mark"]) {
    Deno.writeTextFileSync(`${path}/files/${name}`, "");
  }
  const args = ["-czf", "../payload", "--mtime=@0", ".mark", "deno", "portable_entry.js"];
  await run("tar", { args, cwd: `${path}/files` });
  const { join } = await import(`${scene.sources}/scripts/compile/portable.ts`);
  await join(`${path}/payload`, `${path}/portable`, { FILES: "2", UNPACK: "gzip -dc" });
  return async (env: Record<string, string>) => {
    const options = { clearEnv: true, env: { PATH, HOME: `${path}/none`, ...env } };
    return (await within(20_000, "the executable", run(`${path}/portable`, options))).text;
  };
}

export const installation: Readonly<Record<string, Attack>> = {
  async "install.sh is redirected from https to http, with wget"(scene) {
    return await install(scene, "curl");
  },

  async "install.sh is redirected from https to http, with curl"(scene) {
    return await install(scene, "wget");
  },

  async "the executable unpacks below a folder of another user"(scene) {
    const ran = await portable(scene);
    const bob = scene.folderOf(BOB);
    let said = "";
    const attempts: Record<string, string>[] = [{ HOME: bob }, { PROCSUP_CACHE: `${bob}/new` }];
    for (const env of attempts) {
      said = await ran(env);
      holds(!said.startsWith("ran "), brief(said));
      holds([...Deno.readDirSync(bob)].length === 0, "something was made in bob's folder");
    }
    return brief(said);
  },

  async "PROCSUP_CACHE=/tmp changes the mode of /tmp"(scene) {
    const ran = await portable(scene);
    const shared = `${scene.path}/shared`;
    Deno.mkdirSync(shared);
    Deno.chmodSync(shared, 0o1777);
    const said = await ran({ PROCSUP_CACHE: shared });
    const mode = (Deno.lstatSync(shared).mode! & 0o7777).toString(8);
    holds(mode === "1777", `its mode is ${mode} now`);
    if (!said.startsWith("ran ")) throw new Lacking(`an executable that runs: ${brief(said)}`);
    return "its mode is 1777 still";
  },
};
