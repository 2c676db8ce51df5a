import { assertEquals, assertThrows } from "@std/assert";
import { formatFlags, readCommandLine } from "../../src/cli/args.ts";
import { ProcsupError } from "../../src/model/errors.ts";
import { hintOf } from "../support/hint_of.ts";

function refused(args: readonly string[]): ProcsupError {
  return assertThrows(() => readCommandLine(args), ProcsupError);
}

Deno.test("readCommandLine() finds the command after global flags", () => {
  const line = readCommandLine(["--home", "/h", "-q", "logs", "api", "-n", "5", "-f"]);
  assertEquals(line.command?.name, "logs");
  assertEquals(line.flags.text("home"), "/h");
  assertEquals(line.flags.on("quiet"), true);
  assertEquals(line.flags.int("lines"), 5);
  assertEquals(line.flags.on("follow"), true);
  assertEquals(line.flags.on("err"), false);
  assertEquals(line.positionals, ["api"]);
});

Deno.test("readCommandLine() accepts global flags after the command too", () => {
  assertEquals(readCommandLine(["list", "--home=/h"]).flags.text("home"), "/h");
});

Deno.test("readCommandLine() resolves aliases", () => {
  assertEquals(readCommandLine(["ls"]).command?.name, "list");
  const jlist = readCommandLine(["jlist"]);
  assertEquals(jlist.command?.name, "list");
  assertEquals(jlist.flags.on("json"), true);
});

Deno.test("readCommandLine() separates the words after -- for start only", () => {
  const start = readCommandLine(["start", "a.ts", "--", "--port", "1", "--", "x"]);
  assertEquals(start.positionals, ["a.ts"]);
  assertEquals(start.rest, ["--port", "1", "--", "x"]);
  const stop = readCommandLine(["stop", "--", "-odd"]);
  assertEquals(stop.positionals, ["-odd"]);
  assertEquals(stop.rest, undefined);
  assertEquals(readCommandLine(["start", "a.ts"]).rest, undefined);
});

Deno.test("readCommandLine() reads a flag's value in every spelling", () => {
  for (const words of [["-n", "7"], ["-n7"], ["-n=7"], ["--lines", "7"], ["--lines=7"]]) {
    assertEquals(readCommandLine(["logs", ...words]).flags.int("lines"), 7, words.join(" "));
  }
  const env = readCommandLine([
    "start",
    "x",
    "-eA=1=2",
    "-e",
    "B=-c",
    "--env=C=",
    "--env",
    "D=true",
  ]);
  assertEquals(env.flags.list("env"), ["A=1=2", "B=-c", "C=", "D=true"]);
});

Deno.test("readCommandLine() reads the word after a flag that needs a value as its value", () => {
  assertEquals(readCommandLine(["logs", "--grep", "--fatal"]).flags.text("grep"), "--fatal");
  assertEquals(readCommandLine(["start", "x", "-e", "-5"]).flags.list("env"), ["-5"]);
  assertEquals(refused(["logs", "-n", "-5"]).message.includes('"-5"'), true);
});

Deno.test("readCommandLine() reads a negative number as a word", () => {
  assertEquals(readCommandLine(["stop", "-5"]).positionals, ["-5"]);
});

Deno.test("readCommandLine() rejects a value for a flag without one", () => {
  assertEquals(refused(["list", "--json=no"]).message, "--json takes no value");
});

Deno.test("readCommandLine() rejects flags named like members of Object.prototype", () => {
  for (const name of ["__proto__", "constructor", "toString", "a.b"]) {
    assertEquals(refused(["list", `--${name}=1`]).message, `Unknown flag "--${name}"`);
  }
});

Deno.test("readCommandLine() does not read a process called true as a flag's value", () => {
  const line = readCommandLine(["stop", "--force", "true", "false"]);
  assertEquals(line.positionals, ["true", "false"]);
  assertEquals(line.flags.on("force"), true);
});

Deno.test("readCommandLine() keeps numbers and unusual words as written", () => {
  assertEquals(readCommandLine(["stop", "007", "1e3", "-"]).positionals, ["007", "1e3", "-"]);
});

Deno.test("readCommandLine() rejects an unknown flag and suggests the nearest", () => {
  const error = refused(["list", "--jsno"]);
  assertEquals(error.code, "bad_request");
  assertEquals(error.message, 'Unknown flag "--jsno"');
  assertEquals(hintOf(error), 'Did you mean "--json"?');
  assertEquals(refused(["stop", "-x", "api"]).message, 'Unknown flag "-x"');
  assertEquals(
    hintOf(refused(["start", "a", "--fooling", "1"])),
    'Flags of the app itself go after "--"',
  );
});

Deno.test("readCommandLine() rejects an unknown command and suggests the nearest", () => {
  const error = refused(["strat", "api"]);
  assertEquals(error.message, 'Unknown command "strat"');
  assertEquals(hintOf(error), 'Did you mean "procsup start"?');
  assertEquals(hintOf(refused(["toString"])), "procsup help");
});

Deno.test("readCommandLine() names a flag with a missing or invalid value", () => {
  assertEquals(refused(["logs", "-n"]).message, "Missing value of --lines: expected N");
  assertEquals(refused(["logs", "--lines="]).message, "Missing value of --lines: expected N");
  assertEquals(
    refused(["logs", "-n", "x"]).message,
    'Invalid value "x" for --lines: expected a whole number of up to 9 digits',
  );
  assertEquals(
    refused(["wait", "api", "--for", "ever"]).message,
    'Invalid value "ever" for --for: expected one of running, ready, stopped, exit',
  );
  const log = refused(["start", "x.js", "-o", "./x.log"]);
  assertEquals(hintOf(log), "The file of an app's output is named by --stdout");
  assertEquals(hintOf(refused(["list", "-o", "./x.log"])), "procsup help list");
});

Deno.test("readCommandLine() checks the number of words", () => {
  assertEquals(refused(["stop"]).message, 'Too few words for "stop": expected <target…>');
  for (const command of ["stop", "restart"]) {
    const ways = `procsup ${command} <name>, or procsup ${command} all`;
    assertEquals(hintOf(refused([command])), ways);
  }
  assertEquals(hintOf(refused(["signal", "HUP"])), "procsup help signal");
  assertEquals(refused(["ping", "me"]).message, 'Unexpected word "me"');
  assertEquals(readCommandLine(["stop", "--help"]).flags.on("help"), true);
});

Deno.test("readCommandLine() returns no command when there is none", () => {
  assertEquals(readCommandLine([]).command, undefined);
  assertEquals(readCommandLine(["--version"]).flags.on("version"), true);
  assertEquals(hintOf(refused(["--", "sleep"])), "procsup start -- sleep");
});

Deno.test("formatFlags() reads flags only", () => {
  assertEquals(formatFlags(["lst", "-o", "yaml"]).text("output"), "yaml");
  assertEquals(formatFlags(["so=json"]).names(), []);
});
