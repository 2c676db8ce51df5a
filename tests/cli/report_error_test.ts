import { assertEquals } from "@std/assert";
import { errorText } from "../../src/cli/report_error.ts";
import { ProcsupError } from "../../src/model/errors.ts";

Deno.test("errorText() says what went wrong, then what to do", () => {
  const error = new ProcsupError("process_not_found", "process not found", {
    hint: "procsup list",
  });
  assertEquals(errorText(error), "error: Process not found\n  hint: procsup list\n");
});

Deno.test("errorText() leaves the hint out when there is none", () => {
  assertEquals(errorText(new TypeError("Oops")), "error: Oops\n");
  assertEquals(errorText("text"), "error: Text\n");
});
