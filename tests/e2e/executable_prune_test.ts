import { assertEquals } from "@std/assert";
import { Alone, portable } from "../support/executable.ts";
import { waitFor } from "../support/wait_for.ts";

const [OLD, USED, FRESH] = ["0", "1", "2"].map((digit) => digit.repeat(64)) as [
  string,
  string,
  string,
];

/** A copy of the unpacked folder under another version, last started that many hours ago. */
async function otherVersion(scene: Alone, name: string, hours: number): Promise<string> {
  const folder = `${scene.cache}/${name}`;
  await new Deno.Command("cp", { args: ["-al", scene.unpacked, folder] }).output();
  Deno.removeSync(`${folder}/.used`);
  Deno.writeTextFileSync(`${folder}/.used`, "");
  aged(folder, hours);
  return folder;
}

function aged(folder: string, hours: number): void {
  const then = Date.now() / 1000 - hours * 3600;
  Deno.utimeSync(`${folder}/.used`, then, then);
}

function daemonOf(folder: string, home: string): Deno.ChildProcess {
  return new Deno.Command(`${folder}/deno`, {
    args: ["run", "-A", "--no-config", "--no-lock", `${folder}/portable_entry.js`]
      .concat("daemon", "--home", home),
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
}

Deno.test(
  {
    name: "portable form removes old versions when it unpacks, but none in use",
    ignore: !portable,
  },
  async () => {
    await using scene = new Alone();
    assertEquals((await scene.run(["version"])).code, 0);
    await otherVersion(scene, OLD, 48);
    await otherVersion(scene, FRESH, 1);
    const used = await otherVersion(scene, USED, 48);
    const home = `${scene.path}/home`;
    const daemon = daemonOf(used, home);
    const env = { HOME: scene.path, PROCSUP_HOME: home };
    await waitFor(async () => (await scene.run(["ping"], { env })).code === 0);
    aged(used, 48);

    // A start that does not unpack removes nothing.
    assertEquals((await scene.run(["version"])).code, 0);
    assertEquals(scene.cached(), [OLD, USED, FRESH, scene.hash].sort());
    const unpackAnew = async () => {
      Deno.removeSync(scene.unpacked, { recursive: true });
      assertEquals((await scene.run(["version"])).code, 0);
    };
    await unpackAnew();
    assertEquals(scene.cached(), [USED, FRESH, scene.hash].sort());

    assertEquals((await scene.run(["shutdown", "--yes"], { env })).code, 0);
    await daemon.status;
    await unpackAnew();
    assertEquals(scene.cached(), [FRESH, scene.hash].sort());
  },
);
