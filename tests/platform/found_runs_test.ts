/** Finding runs without a record. */

import { assertEquals } from "@std/assert";
import { findRuns } from "../../src/platform/scan/found_runs.ts";
import { RunFiles } from "../../src/platform/launch/run_files.ts";
import { wrapperWords } from "../../src/platform/launch/wrapper.ts";
import { tempHome } from "../support/temp_home.ts";
import { waitFor } from "../support/wait_for.ts";

const IN_CONTAINER = ["unshare", "--pid", "--fork", "--kill-child"];

/** Whether this machine lets root do that: some containers do not. */
function canUnshare(): boolean {
  const [program, ...args] = [...IN_CONTAINER, "true"];
  return new Deno.Command(program!, { args, stderr: "null" }).outputSync().success;
}

const NOBODY = ["--reuid", "65534", "--regid", "65534", "--clear-groups", "--"];

Deno.test({
  name:
    "findRuns() finds no run that another user made up, by a program with setuid or in a container",
  ignore: Deno.build.os !== "linux" || Deno.uid() !== 0,
  async fn() {
    await using home = tempHome();
    const files = new RunFiles(`${home.path}/run`);
    files.keep();
    const log = "/dev/null";
    const words = (name: string) =>
      wrapperWords({
        ...{ folder: files.folder, stdout: log, stderr: log, setup: "", name },
        command: ["/bin/sleep", "1000"],
      });
    await using folder = tempHome();
    Deno.chmodSync(folder.path, 0o755);
    const [shell, tail] = ["sh", "tail"].map((name) => {
      const path = `${folder.path}/${name}`;
      Deno.copyFileSync(`/usr/bin/${name}`, path);
      Deno.chmodSync(path, 0o4755);
      return path;
    });
    // A shell becomes its caller again.
    const options = [
      ["/bin/sh", ...words("ours")],
      ["setpriv", ...NOBODY, shell!, ...words("dropped")],
      ["setpriv", ...NOBODY, tail!, "-f", "/dev/null", ...words("kept").slice(2)],
      [tail!, "-f", "/dev/null", ...words("not a shell").slice(2)],
      ...canUnshare() ? [[...IN_CONTAINER, "setsid", "/bin/sh", ...words("in a container")]] : [],
    ];
    const children = options.map(([program, ...args]) =>
      new Deno.Command(program!, {
        args,
        env: { PROCSUP_RUN_ID: crypto.randomUUID() },
        detached: true,
        ...{ stdin: "null", stdout: "null", stderr: "null" },
      }).spawn()
    );
    const names = async () => (await findRuns(files, "boot", new Set())).map(({ name }) => name);
    try {
      const commands = () =>
        children.map(({ pid }) =>
          Deno.readTextFileSync(`/proc/${pid}/cmdline`).includes("procsup")
        );
      await waitFor(() => commands().every(Boolean), { what: "all to run" });
      await waitFor(async () => (await names()).includes("ours"), { what: "our own" });
      assertEquals(await names(), ["ours"]);
    } finally {
      for (const { pid } of children) Deno.kill(-pid, "SIGKILL");
      await Promise.all(children.map(({ status }) => status));
    }
    files.close();
  },
});
