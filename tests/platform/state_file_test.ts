import { assert, assertEquals, assertThrows } from "@std/assert";
import { ProcsupError } from "../../src/model/errors.ts";
import {
  copyOf,
  readState,
  removeState,
  setAside,
  writeState,
} from "../../src/platform/files/state_file.ts";
import { flip } from "../support/damage.ts";
import { withFewDescriptors } from "../support/few_descriptors.ts";
import { tempHome } from "../support/temp_home.ts";

const VALUE = { text: "tab\tline\nü", number: 7 };
const asIs = (value: unknown) => value;

function namesIn(folder: string): string[] {
  return [...Deno.readDirSync(folder)].map(({ name }) => name).sort();
}

Deno.test("readState() reads what writeState() wrote, in files that only the user may read", async () => {
  await using home = tempHome();
  const path = `${home.path}/a.json`;
  assertEquals(readState(path, asIs), { value: undefined, problems: [] });
  for (const durable of [false, true]) {
    writeState(path, VALUE, { durable });
    assertEquals(readState(path, asIs), { value: VALUE, problems: [] });
  }
  assertEquals(namesIn(home.path), ["a.json", "a.json.copy"]);
  for (const file of [path, copyOf(path)]) assertEquals(Deno.statSync(file).mode! & 0o777, 0o600);
  removeState(path);
  assertEquals(namesIn(home.path), []);
});

Deno.test("readState() detects every flipped bit, sets the file aside, and falls back to its copy", async () => {
  await using home = tempHome();
  const path = `${home.path}/a.json`;
  writeState(path, VALUE);
  // The last character is a newline, which carries no data.
  const bits = (Deno.statSync(path).size - 1) * 8;
  for (let bit = 0; bit < bits; bit++) {
    flip(path, bit);
    const { value, problems } = readState(path, asIs);
    assertEquals(value, VALUE, `bit ${bit}`);
    assertEquals(problems.length, 1, `bit ${bit}`);
  }
  const aside = namesIn(home.path).filter((name) => name.includes(".unreadable"));
  assertEquals(aside.length, bits, "none is overwritten");
});

Deno.test("readState() mends the copy of an intact file", async () => {
  await using home = tempHome();
  const path = `${home.path}/a.json`;
  writeState(path, VALUE);
  const [file, copy] = [path, copyOf(path)];
  for (const damage of [() => Deno.removeSync(copy), () => flip(copy, 9)]) {
    damage();
    assertEquals(readState(path, asIs), { value: VALUE, problems: [] });
    assertEquals(Deno.readTextFileSync(copy), Deno.readTextFileSync(file));
  }
});

Deno.test("readState() returns nothing when the file and its copy are damaged", async () => {
  await using home = tempHome();
  const path = `${home.path}/a.json`;
  writeState(path, VALUE);
  Deno.writeTextFileSync(path, "");
  Deno.writeTextFileSync(copyOf(path), JSON.stringify(VALUE));
  const { value, problems } = readState(path, asIs);
  assertEquals([value, problems.length], [undefined, 2]);
  assertEquals(namesIn(home.path), ["a.json.copy.unreadable", "a.json.unreadable"]);
});

Deno.test("readState() rejects a file of a newer version, and changes nothing", async () => {
  await using home = tempHome();
  const path = `${home.path}/a.json`;
  writeState(path, VALUE);
  const refuse = () => {
    throw new ProcsupError("other_version", "newer");
  };
  assertThrows(() => readState(path, refuse), ProcsupError, "newer");
  assertEquals(namesIn(home.path), ["a.json", "a.json.copy"]);
});

Deno.test("writeState() leaves no outdated copy when the copy cannot be written", async () => {
  await using home = tempHome();
  const path = `${home.path}/a.json`;
  writeState(path, VALUE);
  Deno.mkdirSync(`${copyOf(path)}.tmp/x`, { recursive: true });
  writeState(path, "new");
  assert(!namesIn(home.path).includes("a.json.copy"));
  assertEquals(readState(path, asIs).value, "new");
});

Deno.test("setAside() reports when a file cannot be set aside", async () => {
  await using home = tempHome();
  const said = setAside(`${home.path}/none`, new Error("why"));
  assert(/why; it cannot be set aside: No such file/.test(said), said);
});

Deno.test({
  name: "readState() throws when no descriptor is left, and sets nothing aside",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using home = tempHome();
    const source = new URL("../../src/platform/files/state_file.ts", import.meta.url).href;
    const script = `
      import { readState, writeState } from "${source}";
      writeState("a.json", { a: 1 });
      take();
      let thrown = "nothing";
      try { readState("a.json", (value) => value); } catch (error) { thrown = error.code; }
      release();
      console.log(thrown, JSON.stringify(readState("a.json", (value) => value)));
    `;
    const told = await withFewDescriptors(script, home.path);
    assertEquals(told, 'EMFILE {"value":{"a":1},"problems":[]}\n');
    assertEquals(namesIn(home.path), ["a.json", "a.json.copy"]);
  },
});
