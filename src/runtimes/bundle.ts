/** `use_bundle`: runs Ruby apps with the gems of their Gemfile. */

import { resolve } from "../npm/path.js";
import { lookAt } from "../platform/stat.ts";
import { type CommandConfig, extensionOf, findEntry, isBareWord } from "./entry.ts";
import { isScript } from "./detect_runtime.ts";
import { refuse, refuseEntrypoint } from "./refusal.ts";
import type { Tools } from "./tools.ts";

/** The command under `bundle exec`. Throws `invalid_config` for other runtimes. */
export function bundleCommand(config: CommandConfig, tools: Tools): string[] {
  const { cwd, entrypoint, interpreter, runtime } = config;
  const extension = extensionOf(entrypoint);
  const foreign = extension !== "rb" && isScript(extension);
  if (runtime !== "ruby" && (runtime !== "auto" || (foreign && interpreter === undefined))) {
    const whose = runtime === "auto"
      ? `a .${extension} file`
      : `runtime ${JSON.stringify(runtime)}`;
    return refuse(config.name, `use_bundle is for ruby, not for ${whose}`);
  }
  const bundle = [tools.need("bundle"), "exec"];
  if (
    interpreter === undefined && isBareWord(entrypoint) && !lookAt(resolve(cwd, entrypoint))?.isFile
  ) {
    if (extension !== "rb") {
      // A command of a gem, such as puma: bundler finds it even if it is not on PATH.
      return [...bundle, entrypoint];
    }
  }
  const entry = findEntry(config, tools.path, () => true);
  if (entry.isFolder) {
    return refuseEntrypoint(config.name, entry.path, "is a folder");
  }
  if (interpreter !== undefined) return [...bundle, tools.need(interpreter), entry.path];
  const asItIs = runtime === "auto" && extension !== "rb" && entry.isExecutable;
  return asItIs ? [...bundle, entry.path] : [...bundle, "ruby", entry.path];
}
