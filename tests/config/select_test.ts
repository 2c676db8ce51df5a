import { assertEquals, assertThrows } from "@std/assert";
import { ProcsupError } from "../../src/model/errors.ts";
import { matchingProcesses, singleProcess } from "../../src/config/select.ts";
import { Files } from "./files.ts";
import { hintOf } from "../support/hint_of.ts";

Deno.test("an unknown name is answered with the names in the configuration", async () => {
  await using files = new Files({
    "procsup.yaml": "processes:\n  web: { entrypoint: sleep }\n  db: { entrypoint: sleep }\n",
  });
  const { processes } = await files.load(["procsup.yaml"]);
  for (
    const select of [
      () => matchingProcesses(processes, ["worker"]),
      () => singleProcess(processes, "worker", {}, false),
    ]
  ) {
    const error = assertThrows(select, ProcsupError);
    assertEquals(error.code, "process_not_found");
    assertEquals(hintOf(error), 'Nothing in the configuration matches "worker"; it has web, db');
  }
  const near = assertThrows(() => matchingProcesses(processes, ["wbe"]), ProcsupError);
  assertEquals(hintOf(near), 'Nothing matches "wbe"; did you mean "web"?');
});
