import { assertEquals } from "@std/assert";
import {
  type Binding,
  commandOf,
  COMMON_BINDINGS,
  decodeKeys,
  type Input,
  PANE_BINDINGS,
  TABLE_BINDINGS,
} from "../../../src/cli/top/keys.ts";

const names = (text: string, final = true) => decodeKeys(text, final).keys.map(said);

function said(input: Input): string {
  if (input.type === "key") return input.key;
  return input.type === "paste" ? `«${input.text}»` : `${input.what} ${input.column},${input.row}`;
}

Deno.test("decodeKeys() recognizes clicks and the wheel, and ignores what else a mouse does", () => {
  assertEquals(names("\x1b[<0;11;5M\x1b[<0;11;5m\x1b[<64;1;1M\x1b[<65;200;90Mx\x1b[<2;3;3M"), [
    ...["click 10,4", "up 0,0", "down 199,89", "x"],
  ]);
  assertEquals(decodeKeys("\x1b[<0;11"), { keys: [], rest: "\x1b[<0;11" });
});

Deno.test("decodeKeys() recognizes every form of a key that terminals send", () => {
  assertEquals(names("jé日\r\t\x7f\x0c"), ["j", "é", "日", "enter", "tab", "backspace", "ctrl-l"]);
  assertEquals(names("\x1b[A\x1bOB\x1b[1;5C\x1b[H\x1b[4~\x1b[5~\x1b[6~\x1b[3~\x1b[Z"), [
    "up",
    "down",
    "right",
    "home",
    "end",
    "pageup",
    "pagedown",
    "delete",
    "backtab",
  ]);
  assertEquals(names("\x1b\x1bx"), ["escape", "alt-x"]);
});

Deno.test("decodeKeys() drops unknown sequences as a whole", () => {
  // A button of the mouse, a reply of the terminal, a function key, an unknown final byte.
  assertEquals(names("\x1b[<2;10;20M\x1b[?1;2c\x1b[15~\x1b[3;4y\x1bOPq"), ["q"]);
});

Deno.test("decodeKeys() waits for the rest of a sequence before it decides", () => {
  assertEquals(decodeKeys("j\x1b"), { keys: [{ type: "key", key: "j" }], rest: "\x1b" });
  assertEquals(decodeKeys("\x1b["), { keys: [], rest: "\x1b[" });
  assertEquals(names("\x1b"), ["escape"]);
  assertEquals(names("\x1b[1;"), []);
});

Deno.test("decodeKeys() recognizes a paste, even over several reads", () => {
  assertEquals(decodeKeys("\x1b[200~xq").keys, []);
  assertEquals(names("\x1b[200~xq\rd\x1b[201~j"), ["«xq\rd»", "j"]);
});

Deno.test("commandOf() interprets a key by the current view", () => {
  const key = (key: string) => ({ type: "key" as const, key });
  const table = { prompt: undefined, help: undefined, focus: "table" as const };
  const pane = { ...table, focus: "pane" as const };
  assertEquals(commandOf(key("g"), table), { type: "pane", pane: "graph" });
  assertEquals(commandOf(key("g"), pane), { type: "move", by: "first" });
  assertEquals(commandOf(key("x"), pane), { type: "do", verb: "stop" });
  assertEquals(commandOf(key("F1"), table), undefined);
  const typing = { ...table, prompt: { type: "filter" as const, text: "", before: "" } };
  assertEquals(commandOf(key("x"), typing), { type: "type", text: "x" });
  assertEquals(commandOf(key("up"), typing), undefined);
  assertEquals(commandOf(key("ctrl-c"), typing), { type: "quit" });
  assertEquals(commandOf(key("constructor"), typing), undefined);
});

Deno.test("decodeKeys() never reads a letter of a paste as a key, however slow or long it is", () => {
  const slow = decodeKeys("\x1b[200~rm x", true);
  assertEquals(slow, { keys: [], rest: "\x1b[200~rm x" });
  assertEquals(names(`${slow.rest}y\x1b[201~q`), ["«rm xy»", "q"]);

  const long = "xyd".repeat(50_000);
  let [held, pasted] = ["", ""];
  for (const part of [`\x1b[200~${long.slice(0, 70_000)}`, `${long.slice(70_000)}\x1b[20`, "1~q"]) {
    const { keys, rest } = decodeKeys(held + part, true);
    held = rest;
    for (const input of keys) pasted += input.type === "paste" ? input.text : `[${said(input)}]`;
  }
  assertEquals([pasted === `${long}[q]`, held], [true, ""]);
});

Deno.test("commandOf() accepts only y as a confirmation, and never a paste", () => {
  const call = { verb: "stop" as const, targets: ["api"] };
  const where = {
    prompt: { type: "confirm" as const, question: "Stop api?", call },
    help: undefined,
    focus: "table" as const,
  };
  assertEquals(commandOf({ type: "key", key: "y" }, where), { type: "enter" });
  for (const key of ["n", "enter", " ", "escape"]) {
    assertEquals(commandOf({ type: "key", key }, where), { type: "cancel" });
  }
  assertEquals(commandOf({ type: "paste", text: "y" }, where), undefined);
  assertEquals(
    commandOf({ type: "paste", text: "xyd" }, { ...where, prompt: undefined }),
    undefined,
  );
});

Deno.test("bindings give each key one meaning per view", () => {
  const keysOf = (bindings: readonly Binding[]) => bindings.flatMap(({ keys }) => keys);
  for (const own of [TABLE_BINDINGS, PANE_BINDINGS]) {
    const all = keysOf([...own, ...COMMON_BINDINGS]);
    assertEquals(all.filter((key, index) => all.indexOf(key) !== index), []);
  }
});
