import { assertEquals } from "@std/assert";
import { changedProcesses } from "../../src/cli/watch_list.ts";
import { fakeProcess } from "./fake_daemon.ts";

Deno.test("changedProcesses() returns new, changed and removed processes, and ignores resource usage", () => {
  const [api, db] = [fakeProcess(), fakeProcess({ id: "2", name: "db" })];
  assertEquals(changedProcesses([], [api, db]), [api, db]);
  assertEquals(changedProcesses([api], [{ ...api, cpu_percent: 99, uptime: 1, fds: 3 }]), []);
  const crashed = fakeProcess({ state: "crashed" });
  assertEquals(changedProcesses([api, db], [crashed]), [
    crashed,
    { id: "2", name: "db", deleted: true },
  ]);
});
