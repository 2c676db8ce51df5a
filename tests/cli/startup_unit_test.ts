import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import {
  namesHome,
  programsIn,
  sameUnit,
  searchFolders,
  searchPathOf,
  type Unit,
  unitFor,
  type UnitRequest,
  unsafeProgram,
} from "../../src/cli/startup_unit.ts";
import type { ServiceManager } from "../../src/platform/service_manager.ts";
import { isInstalled } from "../support/installed.ts";
import { outputOf } from "../support/output_of.ts";
import { tempHome } from "../support/temp_home.ts";

/** Arguments with every character that the formats must escape. */
const REQUEST: UnitRequest = {
  scope: "system",
  words: ["/opt/my apps/procsup", "100%", "$HOME", `it's "<&>`],
  home: "/srv/a & b/.procsup",
  userHome: "/srv/a & b",
  path: "/opt/node 22/bin:bin:/usr/bin:/opt/node 22/bin:/root/.cache/node_compat_bin",
  version: 257,
};

function unit(manager: ServiceManager, change: Partial<UnitRequest> = {}): Unit {
  return unitFor(manager, { ...REQUEST, ...change });
}

/** The output of a program that reads the format, and finds no mistake. */
async function output(program: string, ...args: string[]): Promise<string> {
  const command = new Deno.Command(program, { args, stdin: "null" });
  const { code, stdout, stderr } = await outputOf(command);
  assertEquals(code, 0, stdout + stderr);
  return stdout + stderr;
}

Deno.test("unitFor() systemd lets the apps survive the daemon", () => {
  const { path, text } = unit("systemd");
  assertEquals(path, "/etc/systemd/system/procsup.service");
  const lines = ["Type=notify", "KillMode=process", "Restart=always", "Delegate=yes"];
  for (const line of [...lines, "DelegateSubgroup=daemon", "StartLimitIntervalSec=0"]) {
    assertStringIncludes(text, `\n${line}\n`);
  }
});

Deno.test("unitFor() systemd escapes special characters of each setting", () => {
  const lines = unit("systemd").text.split("\n");
  assert(lines.includes(
    'ExecStart="/opt/my apps/procsup" 100%% $$HOME "it\'s \\"<&>" daemon --home "/srv/a & b/.procsup"',
  ));
  assert(lines.includes('Environment="PATH=/opt/node 22/bin:/usr/bin"'));
  assert(lines.includes('RequiresMountsFor="/srv/a & b/.procsup"'));
});

Deno.test("unitFor() systemd writes no settings that an older version does not know", () => {
  const { text } = unit("systemd", { version: 252 });
  for (const setting of ["DelegateSubgroup", "RestartSteps", "RestartMaxDelaySec"]) {
    assert(!text.includes(setting), setting);
  }
});

Deno.test("unitFor() systemd has no sandbox, which would apply to the apps", () => {
  const settings = /^(Protect|Private|Restrict|NoNewPrivileges|SystemCall|ReadOnly|User=|UMask)/m;
  assertEquals(settings.exec(unit("systemd").text), null);
});

Deno.test("unitFor() systemd installs a user's unit in the user's folder", () => {
  const { path, text, enable, disable } = unit("systemd", { scope: "user", userHome: "/home/me" });
  assertEquals(path, "/home/me/.config/systemd/user/procsup.service");
  assertStringIncludes(text, "WantedBy=default.target");
  assert(!text.includes("network-online"), "a user's service manager has no such target");
  const systemctl = [...enable, ...disable].filter(({ words }) => words[0] === "systemctl");
  assert(systemctl.every(({ words }) => words[1] === "--user"));
  assertStringIncludes(enable.at(-1)?.advice ?? "", "sudo loginctl enable-linger");
});

Deno.test("unitFor() systemd passes systemd-analyze", {
  ignore: !isInstalled("systemd-analyze"),
}, async () => {
  await using folder = tempHome();
  const version = await output("systemctl", "--version");
  const path = `${folder.path}/procsup.service`;
  const { text } = unit("systemd", {
    words: ["/bin/sh", "a b"],
    home: folder.path,
    version: Number(/systemd (\d+)/.exec(version)?.[1] ?? 0),
  });
  Deno.writeTextFileSync(path, text);
  // It only warns about unknown settings, and exits with 0. Other units of the machine may be faulty.
  const said = await output("systemd-analyze", "verify", path);
  assertEquals(said.replace(/^(\/usr)?\/lib\/systemd\/.*\n?/gm, ""), "");
});

Deno.test("unitFor() launchd writes a property list with the right values", {
  ignore: !isInstalled("python3"),
}, async () => {
  await using folder = tempHome();
  const path = `${folder.path}/procsup.plist`;
  Deno.writeTextFileSync(path, unit("launchd").text);
  const read =
    "import plistlib, json, sys; print(json.dumps(plistlib.load(open(sys.argv[1], 'rb'))))";
  const json = await output("python3", "-c", read, path);
  assertEquals(JSON.parse(json), {
    Label: "procsup",
    ProgramArguments: [...REQUEST.words, "daemon", "--home", REQUEST.home],
    EnvironmentVariables: { HOME: REQUEST.userHome, PATH: "/opt/node 22/bin:/usr/bin" },
    RunAtLoad: true,
    KeepAlive: true,
    AbandonProcessGroup: true,
    ProcessType: "Interactive",
    SoftResourceLimits: { NumberOfFiles: 65536 },
    HardResourceLimits: { NumberOfFiles: 65536 },
    StandardErrorPath: "/var/log/procsup.log",
  });
});

Deno.test("unitFor() launchd distinguishes a user's agent from a system daemon", () => {
  assertEquals(unit("launchd").path, "/Library/LaunchDaemons/procsup.plist");
  const { path, text } = unit("launchd", { scope: "user", userHome: "/Users/me" });
  assertEquals(path, "/Users/me/Library/LaunchAgents/procsup.plist");
  assertStringIncludes(text, "<string>/Users/me/Library/Logs/procsup.log</string>");
});

/** Evaluates the script like supervise-daemon.sh of OpenRC. */
const EVALUATE = `. "$1"; depend() { :; }
eval printf '"%s\\n"' $supervise_daemon_args $command -- $command_args; echo "$retry"`;

Deno.test({
  name: "unitFor() OpenRC writes a script that a shell evaluates to the right values",
  ignore: Deno.build.os === "windows",
  async fn() {
    await using folder = tempHome();
    const path = `${folder.path}/procsup`;
    Deno.writeTextFileSync(path, unit("openrc").text);
    await output("sh", "-n", path);
    if (isInstalled("shellcheck")) await output("shellcheck", "--severity=warning", path);
    const words = await output("sh", "-c", EVALUATE, "sh", path);
    assertEquals(words.trimEnd().split("\n"), [
      "--env",
      `HOME=${REQUEST.userHome}`,
      "--env",
      "PATH=/opt/node 22/bin:/usr/bin",
      REQUEST.words[0]!,
      "--",
      ...REQUEST.words.slice(1),
      "daemon",
      "--home",
      REQUEST.home,
      "TERM/300/KILL/5",
    ]);
  },
});

Deno.test("namesHome() distinguishes homes with the same prefix", () => {
  for (const manager of ["systemd", "launchd", "openrc"] as const) {
    const { text } = unit(manager, { home: "/root/.procsup", words: ["/bin/procsup"] });
    assertEquals(namesHome(text, "/root/.procsup"), true, manager);
    assertEquals(namesHome(text, "/root/.proc"), false, manager);
  }
});

Deno.test("sameUnit() ignores the search path, and nothing else", () => {
  for (const manager of ["systemd", "launchd", "openrc"] as const) {
    const { text } = unit(manager);
    assert(sameUnit(text, unit(manager, { path: "/elsewhere" }).text), manager);
    assert(!sameUnit(text, unit(manager, { words: ["/elsewhere"] }).text), manager);
  }
});

Deno.test("programsIn() and searchPathOf() read what unitFor() writes", () => {
  const words = ["/opt/my apps/procsup", "run", "/srv/main.ts"];
  for (const manager of ["systemd", "launchd", "openrc"] as const) {
    const path = manager === "openrc" ? "/opt/node/bin:/usr/bin" : "/opt/node 22/bin:/usr/bin";
    const { text } = unit(manager, { words, path });
    const found = programsIn(text);
    assertEquals([found[0], found[1]], ["/opt/my apps/procsup", "/srv/main.ts"], text);
    assertEquals(searchPathOf(text), path, text);
  }
});

Deno.test(
  "root starts no program at boot that another user could exchange, and searches none of their folders",
  {
    ignore: Deno.uid() !== 0,
  },
  async () => {
    await using folder = tempHome();
    const [own, theirs] = ["own", "theirs"].map((name) => `${folder.path}/${name}`);
    for (const path of [own!, theirs!]) {
      Deno.mkdirSync(path);
      Deno.writeTextFileSync(`${path}/procsup`, "", { mode: 0o755 });
    }
    Deno.chownSync(theirs!, 1000, 1000);
    assertEquals(unsafeProgram([`${own}/procsup`, "run"]), undefined);
    for (const program of [`${theirs}/procsup`, `${own}/open`, `${own}/link`]) {
      if (program.endsWith("open")) Deno.writeTextFileSync(program, "");
      if (program.endsWith("open")) Deno.chmodSync(program, 0o777);
      if (program.endsWith("link")) Deno.symlinkSync(`${theirs}/procsup`, program);
      assertStringIncludes(unsafeProgram([program]) ?? "", program);
    }
    const { kept, unsafe } = searchFolders(`${own}:${theirs}:/tmp:${folder.path}/none`);
    assertEquals(kept, [own!, `${folder.path}/none`]);
    assertEquals(unsafe.length, 2, unsafe.join());
  },
);
