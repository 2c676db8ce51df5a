import { assertEquals } from "@std/assert";

const SCRIPT = new URL("../../scripts/systemd_boot.ts", import.meta.url).pathname;

// Minutes of work, and root: with PROCSUP_TEST_BOOT=1 only. CI has a job of its own for it.
Deno.test({
  name: "procsup is installed, restarted, rebooted and removed under a systemd that booted",
  ignore: Deno.env.get("PROCSUP_TEST_BOOT") !== "1",
  async fn() {
    const { code } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", SCRIPT],
      stdin: "null",
    }).spawn().status;
    assertEquals(code, 0);
  },
});
