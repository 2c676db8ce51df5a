import { assertEquals, assertThrows } from "@std/assert";
import { selectPresent, selectProcesses } from "../../src/protocol/select_processes.ts";
import { ProcsupError } from "../../src/model/errors.ts";
import { fakeProcess } from "../cli/fake_daemon.ts";

const ALL = [
  fakeProcess({ id: "aaaa0001", numeric_id: 0, name: "api:0", tags: ["web"] }),
  fakeProcess({ id: "aaaa0002", numeric_id: 1, name: "api:1", tags: ["web"] }),
  fakeProcess({
    id: "bbbb0003",
    numeric_id: 2,
    name: "mail",
    namespace: "ops",
    config: { name: "mail", labels: { tier: "back" } },
  }),
];

function names(...targets: string[]): string[] {
  return selectProcesses(ALL, targets).map(({ name }) => name);
}

Deno.test("selectProcesses() resolves targets like the daemon, in list order", () => {
  assertEquals(names(), ["api:0", "api:1", "mail"]);
  assertEquals(names("all"), ["api:0", "api:1", "mail"]);
  assertEquals(names("api"), ["api:0", "api:1"]);
  assertEquals(names("mail", "1", "api:1"), ["api:1", "mail"]);
  assertEquals(names("tag:web"), ["api:0", "api:1"]);
  assertEquals(names("ns:ops"), ["mail"]);
  assertEquals(names("label:tier=back"), ["mail"]);
  assertEquals(names("bbbb"), ["mail"]);
  assertEquals(names("bbbb0003-1111-4222-8333-444455556666"), ["mail"]);
});

Deno.test("selectProcesses() rejects missing and ambiguous targets", () => {
  assertEquals(assertThrows(() => names("maik"), ProcsupError).code, "process_not_found");
  assertEquals(assertThrows(() => names("aaaa"), ProcsupError).code, "ambiguous_target");
});

Deno.test("selectPresent() leaves out missing targets", () => {
  const watched = (...targets: string[]) => selectPresent(ALL, targets).map(({ name }) => name);
  assertEquals(watched(), ["api:0", "api:1", "mail"]);
  assertEquals(watched("later", "mail"), ["mail"]);
  assertEquals(watched("later"), []);
  assertEquals(assertThrows(() => watched("aaaa"), ProcsupError).code, "ambiguous_target");
});
