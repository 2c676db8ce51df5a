import { assertEquals } from "@std/assert";
import { replaceFile, replaceFileDurably } from "../../src/platform/files/atomic_file.ts";
import { tempHome } from "../support/temp_home.ts";

for (const replace of [replaceFile, replaceFileDurably]) {
  Deno.test(`${replace.name}() follows no link, and replaces what a killed writer left`, async () => {
    await using temp = tempHome();
    const path = `${temp.path}/file`;
    Deno.writeTextFileSync(`${temp.path}/other`, "theirs");
    Deno.symlinkSync("other", `${path}.tmp`);
    replace(path, "ours");
    assertEquals(Deno.readTextFileSync(`${temp.path}/other`), "theirs");
    Deno.writeTextFileSync(`${path}.tmp`, "half of it, and longer", { mode: 0o644 });
    replace(path, "new");
    assertEquals(Deno.readTextFileSync(path), "new");
    assertEquals(Deno.lstatSync(path).mode! & 0o777, 0o600);
    assertEquals([...Deno.readDirSync(temp.path)].length, 2);
  });
}
