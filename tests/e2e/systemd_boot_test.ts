import { fromFileUrl } from "@std/path";
import { assertEquals } from "@std/assert";

const SCRIPT = fromFileUrl(import.meta.resolve("../../scripts/systemd_boot.ts"));

// Takes minutes and needs root, so it runs only with PROCSUP_TEST_BOOT=1. CI has a separate job for
// it.
Deno.test({
  name: "procsup is installed, restarted, rebooted and removed under a booted systemd",
  ignore: Deno.env.get("PROCSUP_TEST_BOOT") !== "1",
  async fn() {
    const { code } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", SCRIPT],
      stdin: "null",
    }).spawn().status;
    assertEquals(code, 0);
  },
});
