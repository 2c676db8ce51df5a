import { assertEquals } from "@std/assert";
import { errorText } from "../../src/cli/report_error.ts";
import { ProcsupError } from "../../src/model/errors.ts";
import { commandHint } from "../../src/model/hint.ts";

Deno.test("errorText() prints the message, the hint and the help page", () => {
  const error = new ProcsupError("process_not_found", "process not found", {
    hint: { command: { verb: "list" } },
  });
  assertEquals(
    errorText(error),
    "error: Process not found\n  hint: procsup list\n  more: procsup help targets\n",
  );
  const usage = new ProcsupError("bad_request", "no", { hint: commandHint("help", "start") });
  assertEquals(errorText(usage), "error: No\n  hint: procsup help start\n");
  const words = new ProcsupError("bad_request", "no", { hint: commandHint("flush", "all") });
  assertEquals(
    errorText(words, "flush"),
    "error: No\n  hint: procsup flush all\n  more: procsup help flush\n",
  );
  const state = new ProcsupError("wrong_state", "no");
  assertEquals(errorText(state, "mcp"), "error: No\n  more: procsup help mcp\n");
  assertEquals(errorText(error, "stop"), errorText(error));
});

Deno.test("errorText() leaves out missing parts", () => {
  assertEquals(errorText(new TypeError("Oops")), "error: Oops\n");
  assertEquals(errorText("text"), "error: Text\n");
});
