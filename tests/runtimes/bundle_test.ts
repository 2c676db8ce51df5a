/** `use_bundle`. */

import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { ProcsupError } from "../../src/model/errors.ts";
import { commandLine } from "../../src/runtimes/command_line.ts";
import type { CommandConfig } from "../../src/runtimes/programs.ts";
import { Sandbox } from "./sandbox.ts";

function line(box: Sandbox, entrypoint: string, more?: Partial<CommandConfig>): string {
  const config = box.config(entrypoint, { useBundle: true, ...more });
  const { argv, runtime } = commandLine(config, { path: box.bin });
  return `${runtime}: ${box.short(argv)}`;
}

Deno.test("bundleCommand() wraps scripts, programs, gem commands and interpreters", () => {
  using box = new Sandbox().installed(["bundle", "jruby"]).files("app.rb").program("bin/rails");
  assertEquals(line(box, "app.rb"), "ruby: bin/bundle exec ruby app/app.rb");
  assertEquals(line(box, "bin/rails", { args: ["s"] }), "ruby: bin/bundle exec app/bin/rails s");
  assertEquals(
    line(box, "bin/rails", { runtime: "ruby" }),
    "ruby: bin/bundle exec ruby app/bin/rails",
  );
  assertEquals(line(box, "puma", { runtime: "ruby" }), "ruby: bin/bundle exec puma");
  assertEquals(
    line(box, "app.rb", { interpreter: "jruby" }),
    "ruby: bin/bundle exec bin/jruby app/app.rb",
  );
});

Deno.test("bundleCommand() refuses other runtimes, missing scripts and a missing bundler", () => {
  using box = new Sandbox().files("app.py", "app.rb");
  const refusal = (entrypoint: string, more?: Partial<CommandConfig>) => {
    const error = assertThrows(() => line(box, entrypoint, more), ProcsupError);
    assertEquals(error.code, "invalid_config");
    return error.message;
  };
  assertStringIncludes(refusal("app.rb", { runtime: "node" }), 'not for runtime "node"');
  assertStringIncludes(refusal("app.py"), "not for a .py file");
  assertStringIncludes(refusal("app.rb"), 'interpreter "bundle" was not found on PATH');
  box.installed(["bundle"]);
  assertStringIncludes(refusal("gone.rb"), 'gone.rb" does not exist');
  assertStringIncludes(refusal("./gone"), 'gone" does not exist');
});
