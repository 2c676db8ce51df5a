/** The paths of logs, and which existing files are rejected there. */

import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { ProcsupError } from "../../src/model/errors.ts";
import { logFiles, prepareLogFiles } from "../../src/logs/write/log_files.ts";
import { dirname } from "@std/path";
import { tempHome } from "../support/temp_home.ts";

function mode(path: string): number {
  return Deno.lstatSync(path).mode! & 0o777;
}

function refusal(files: { stdout: string; stderr: string }): string {
  const error = assertThrows(() => prepareLogFiles(dirname(files.stdout), files), ProcsupError);
  assertEquals(error.code, "start_failed");
  return error.message;
}

Deno.test("logFiles() puts both logs into the app's folder", () => {
  assertEquals(logFiles("/home/apps", "api:0"), {
    stdout: "/home/apps/api:0/stdout.log",
    stderr: "/home/apps/api:0/stderr.log",
  });
});

Deno.test("prepareLogFiles() creates private files and leaves existing ones alone", async () => {
  await using home = tempHome();
  const files = logFiles(home.path, "api");
  const unwritten = prepareLogFiles(dirname(files.stdout), files);
  assertEquals([...unwritten], [files.stdout, files.stderr]);
  assertEquals([mode(`${home.path}/api`), mode(files.stdout), mode(files.stderr)], [
    0o700,
    0o600,
    0o600,
  ]);
  await Deno.writeTextFile(files.stdout, "kept\n");
  await Deno.remove(files.stderr);
  assertEquals(prepareLogFiles(dirname(files.stdout), files).size, 0);
  assertEquals(await Deno.readTextFile(files.stdout), "kept\n");
  assertEquals(await Deno.readTextFile(files.stderr), "");
});

Deno.test("prepareLogFiles() gives only files outside the home the mode of the configuration", async () => {
  await using home = tempHome();
  const files = logFiles(home.path, "api", { stdout: `${home.path}/own/out.log` });
  prepareLogFiles(`${home.path}/api`, files, "0640");
  assertEquals([mode(files.stdout), mode(files.stderr)], [0o640, 0o600]);
  // Also that of one which is there already.
  Deno.chmodSync(files.stdout, 0o600);
  prepareLogFiles(`${home.path}/api`, files, "644");
  assertEquals(mode(files.stdout), 0o644);
});

Deno.test("prepareLogFiles() accepts one file for both streams, and leaves a file elsewhere as it is", async () => {
  await using home = tempHome();
  const folder = `${home.path}/api`;
  const one = `${folder}/all.log`;
  assertEquals([...prepareLogFiles(folder, { stdout: one, stderr: one })], [one]);
  const other = `${home.path}/other/all.log`;
  const files = { stdout: `${folder}2/stdout.log`, stderr: other };
  assertEquals([...prepareLogFiles(`${folder}2`, files)], [files.stdout]);
  assertEquals(await Deno.readTextFile(other), "");
});

Deno.test("prepareLogFiles() rejects links and other file types, and names the path", async () => {
  await using home = tempHome();
  const files = logFiles(home.path, "api");
  await Deno.mkdir(`${home.path}/elsewhere`);
  await Deno.symlink(`${home.path}/elsewhere`, `${home.path}/api`);
  assertStringIncludes(refusal(files), `"${home.path}/api": it is a symbolic link`);
  await Deno.remove(`${home.path}/api`);

  await Deno.writeTextFile(`${home.path}/api`, "");
  assertStringIncludes(refusal(files), "it is not a folder");
  await Deno.remove(`${home.path}/api`);

  await Deno.mkdir(`${home.path}/api`);
  await Deno.symlink(`${home.path}/stolen`, files.stderr);
  assertStringIncludes(refusal(files), `"${files.stderr}": it is a symbolic link`);
  assertThrows(() => Deno.lstatSync(`${home.path}/stolen`), Deno.errors.NotFound);

  await Deno.remove(files.stderr);
  await Deno.mkdir(files.stderr);
  assertStringIncludes(refusal(files), `"${files.stderr}": it is not a file`);
});

Deno.test("prepareLogFiles() creates no folder where another user could have put a link", {
  ignore: Deno.uid() !== 0,
}, async () => {
  await using home = tempHome();
  const theirs = `${home.path}/theirs`;
  await Deno.mkdir(theirs);
  await Deno.chown(theirs, 65534, 65534);
  const files = { stdout: `${home.path}/api/stdout.log`, stderr: `${theirs}/new/app.log` };
  assertStringIncludes(refusal(files), `"${theirs}" belongs to user 65534`);
  assertEquals([...Deno.readDirSync(theirs)], []);
});

Deno.test("prepareLogFiles() explains why a folder cannot be created", async () => {
  await using home = tempHome();
  await Deno.writeTextFile(`${home.path}/apps`, "");
  assertStringIncludes(refusal(logFiles(`${home.path}/apps`, "api")), `${home.path}/apps/api`);
});
