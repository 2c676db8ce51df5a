import { assertEquals } from "@std/assert";
import { EXPORTED_KEYS } from "../engines.ts";
import {
  documentedFiles,
  exportText,
  lacks,
  runs,
  sampleFiles,
  SAMPLES,
  takes,
} from "./exporting.ts";
import { parse } from "yaml";
import { tempHome } from "../../../tests/support/temp_home.ts";

const FILES = [
  ...documentedFiles(),
  ...EXPORTED_KEYS.filter((key) => key in SAMPLES).map((key) => sampleFiles(key).set),
];

const COMPOSE = [["docker", "compose"], ["docker-compose"]]
  .find((words) => runs(...words, "version"));

/** The program's errors for the services of all files, merged into one because it starts slowly. */
async function problems(engine: "compose" | "swarm", words: readonly string[]): Promise<string> {
  await using folder = tempHome();
  const all = { version: "3.9", services: {} as Record<string, unknown>, secrets: {} };
  const variables = new Set<string>();
  for (const [index, text] of FILES.entries()) {
    const { files: [file], stack } = await exportText(text, engine);
    const { services, secrets = {} } = parse(file!.text);
    const renamed = (map: object) =>
      Object.fromEntries(Object.entries(map).map(([name, one]) => [`f${index}-${name}`, one]));
    for (const service of Object.values<Record<string, object>>(services)) {
      if (service.depends_on !== undefined) service.depends_on = renamed(service.depends_on);
    }
    Object.assign(all.services, renamed(services));
    Object.assign(all.secrets, secrets);
    for (const app of stack.apps) Object.keys(app.variables).forEach((one) => variables.add(one));
  }
  const path = `${folder.path}/all.yaml`;
  // JSON is valid YAML of every version.
  Deno.writeTextFileSync(path, JSON.stringify(all));
  const [program, ...args] = words;
  const { success, stderr } = await new Deno.Command(program!, {
    args: args.map((word) => word === "FILE" ? path : word),
    env: Object.fromEntries([...variables].map((name) => [name, "1"])),
    stdout: "null",
    stderr: "piped",
  }).output();
  return success ? "" : new TextDecoder().decode(stderr);
}

Deno.test({
  name: "composeFile() writes services that docker compose accepts",
  ignore: COMPOSE === undefined && lacks("docker compose"),
  fn: async () => {
    assertEquals(await problems("compose", [...COMPOSE!, "-f", "FILE", "config", "-q"]), "");
  },
});

Deno.test({
  name: "swarmFile() writes services that docker stack accepts",
  ignore: !takes("--compose-file", "docker", "stack", "config") && lacks("docker stack config"),
  fn: async () => {
    assertEquals(await problems("swarm", ["docker", "stack", "config", "-c", "FILE"]), "");
  },
});
