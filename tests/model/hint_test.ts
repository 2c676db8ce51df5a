/** One hint, in the form of each surface. */

import { assertEquals } from "@std/assert";
import { hintText } from "../../src/library/words.ts";
import { inTools } from "../../src/mcp/agent_text.ts";
import { TOOL_NAMES } from "../../src/mcp/tool_names.ts";
import { commandHint, type Hint, hintIn, shellHint } from "../../src/model/hint.ts";

const TOOLS = new Set(TOOL_NAMES);

Deno.test("a hint is a shell line, a method call or a tool", () => {
  const forms = (hint: Hint) => [shellHint(hint), hintText(hint), inTools(hint, TOOLS)];
  assertEquals(
    forms({
      text: "Choose another name, or restart it",
      command: { verb: "restart", target: "a b" },
    }),
    [
      "Choose another name, or restart it: procsup restart 'a b'",
      'Choose another name, or restart it: restart("a b")',
      'Choose another name, or restart it: restart_app with target "a b"',
    ],
  );
  assertEquals(forms(commandHint("logs", "api", { lines: 50 })), [
    "procsup logs api --lines 50",
    'lines("api", { tail: 50 })',
    'get_logs with target "api", lines 50',
  ]);
  assertEquals(forms({ text: "Install tsx" }), Array(3).fill("Install tsx"));
  const start = { text: "There is none; make one", command: { verb: "start", target: "<script>" } };
  assertEquals(forms(start), [
    "There is none; make one: procsup start <script>",
    "There is none; make one",
    "There is none; make one: start_app",
  ]);
});

Deno.test("a hint without a counterpart on a surface says so, or is left out", () => {
  const doctor = commandHint("doctor", undefined, { home: "/a b" });
  assertEquals(shellHint(doctor), "procsup doctor --home '/a b'");
  assertEquals(hintText(doctor), undefined);
  const terminal = "procsup doctor --home '/a b' (a terminal command: no tool does this)";
  assertEquals(inTools(doctor, TOOLS), terminal);
  const restart = commandHint("restart", "api");
  assertEquals(
    inTools(restart, new Set(["list_apps"])),
    "procsup restart api (a terminal command: no tool does this)",
  );
  assertEquals(hintText(commandHint("restart", "api", { tty: true })), undefined);
  assertEquals(
    hintText({ text: "Add one", command: { verb: "scale", target: "a", args: ["+1"] } }),
    "Add one",
  );
});

Deno.test("hintIn() accepts only hints", () => {
  const hint = { text: "Restart it", command: { verb: "restart", target: "api" } };
  assertEquals(hintIn(hint), hint);
  const others = ["procsup list", 5, null, undefined, {}, { text: 5 }, { command: {} }, {
    command: { verb: "stop", target: 7 },
  }];
  for (const other of others) assertEquals(hintIn(other), undefined, JSON.stringify(other));
});
