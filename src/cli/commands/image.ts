/** `procsup image`: builds an image with the folder of a configuration file and procsup. */

import { loadClient } from "../../export/mod.ts";
import { ProcsupError } from "../../model/errors.ts";
import { lookAt } from "../../platform/files/stat.ts";
import { ownWords } from "../../platform/own_program.ts";
import { fromHere } from "../../platform/files/paths.ts";
import { VERSION } from "../../protocol/version.ts";
import type { CommandContext } from "../command.ts";
import { exported } from "./export.ts";

/** The image that contains only procsup. */
const PROGRAM = `procsup:${VERSION}`;

const FROM_SCRATCH = "FROM scratch\nCOPY procsup /usr/local/bin/procsup\n";

/** Builds the image with docker or podman. */
export async function image(context: CommandContext): Promise<number> {
  const { flags, output } = context;
  const tag = flags.text("tag");
  if (tag === undefined) {
    throw new ProcsupError("bad_request", "An image needs a name: --tag NAME", {
      hint: "procsup image procsup.yaml --tag shop:1",
    });
  }
  const program = programFile(flags.text("program"));
  const work = Deno.makeTempDirSync({ prefix: "procsup-image-" });
  try {
    const { stack, files } = await exported(context, "dockerfile", context.positionals[0]);
    const { Client } = await loadClient();
    const builder = flags.text("builder") ?? "docker";
    const client = new Client(builder);
    const build = async (...words: string[]) => {
      const code = await client.shown(["build", ...words]);
      if (code === 0) return;
      throw new ProcsupError("start_failed", `${builder} build ended with exit code ${code}`);
    };
    Deno.mkdirSync(`${work}/program`);
    Deno.copyFileSync(program, `${work}/program/procsup`);
    Deno.chmodSync(`${work}/program/procsup`, 0o755);
    Deno.writeTextFileSync(`${work}/program/Dockerfile`, FROM_SCRATCH);
    await build("-t", PROGRAM, `${work}/program`);
    for (const { path, text } of files) {
      // BuildKit and podman read `<Dockerfile>.dockerignore` next to the Dockerfile.
      const name = path === "Dockerfile" ? path : "Dockerfile.dockerignore";
      if (name === path || lookAt(`${stack.folder}/${path}`) === undefined) {
        Deno.writeTextFileSync(`${work}/${name}`, text);
      }
    }
    const from = ["--build-arg", `PROCSUP=${PROGRAM}`];
    await build("-f", `${work}/Dockerfile`, ...from, "-t", tag, stack.folder);
    output.done(`✔ ${tag}`);
    return 0;
  } finally {
    Deno.removeSync(work, { recursive: true });
  }
}

/** The procsup executable for the image: the given one, or this one. */
function programFile(given: string | undefined): string {
  if (given !== undefined) {
    const path = fromHere(given);
    if (lookAt(path)?.isFile) return path;
    throw new ProcsupError("bad_request", `--program ${given}: no such file`);
  }
  const [program, ...rest] = ownWords();
  if (rest.length === 0) return program;
  throw new ProcsupError("bad_request", "procsup runs from its source here: name its executable", {
    hint: "deno task compile, then: procsup image --program dist/procsup …",
  });
}
