import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { type Unit, unitFor, type UnitRequest } from "../../src/cli/startup/units.ts";
import { cli } from "../support/procsup.ts";
import { tempHome } from "../support/temp_home.ts";

const REQUEST: UnitRequest = {
  scope: "system",
  words: ["/opt/my apps/procsup"],
  home: "/root/.procsup",
  userHome: "/root",
};

function unit(manager: "systemd" | "launchd" | "openrc", change: Partial<UnitRequest> = {}): Unit {
  return unitFor(manager, { ...REQUEST, ...change });
}

Deno.test("unitFor() systemd lets the apps outlive the daemon", () => {
  const { path, text } = unit("systemd");
  assertEquals(path, "/etc/systemd/system/procsup.service");
  assertStringIncludes(text, 'ExecStart="/opt/my apps/procsup" daemon --home /root/.procsup\n');
  for (const line of ["KillMode=process", "Restart=always", "Delegate=yes"]) {
    assertStringIncludes(text, `${line}\n`);
  }
});

Deno.test("unitFor() systemd puts a user's unit into the user's folder", () => {
  const { path, text, enable } = unit("systemd", { scope: "user", userHome: "/home/me" });
  assertEquals(path, "/home/me/.config/systemd/user/procsup.service");
  assertStringIncludes(text, "WantedBy=default.target");
  assert(enable.every((words) => words[0] !== "systemctl" || words.includes("--user")));
});

Deno.test("unitFor() launchd and OpenRC keep the daemon up", () => {
  assertStringIncludes(unit("launchd").text, "<key>AbandonProcessGroup</key><true/>");
  assertStringIncludes(unit("launchd").text, "<string>/opt/my apps/procsup</string>");
  assertStringIncludes(unit("openrc").text, "supervisor=supervise-daemon");
});

Deno.test("startup shows the unit and writes nothing without a person or --yes", async () => {
  await using home = tempHome();
  const shown = await cli(home.path, "startup");
  if (shown.stderr.includes("No service manager")) return;
  assertEquals(shown.code, 0);
  assertStringIncludes(shown.stdout, `--home ${home.path}`);
  const install = await cli(home.path, "startup", "install", "--user");
  assertEquals(install.code, 2);
  assertStringIncludes(install.stderr, "Nothing was written");
  assertEquals([...Deno.readDirSync(home.path)], []);
});
