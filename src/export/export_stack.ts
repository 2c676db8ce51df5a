/** Writes a stack as files of an engine, with a comment for each key without a counterpart. */

import { plainText } from "../model/plain_text.ts";
import { yaml } from "../model/yaml.ts";
import { lookAt } from "../platform/files/stat.ts";
import { composeFile, swarmFile } from "./compose.ts";
import { dockerfile, dockerignore } from "./dockerfile.ts";
import { kubernetesManifests, secretName } from "./kubernetes.ts";
import { nomadJob } from "./nomad.ts";
import { type ExportRequest, type Loss, type Stack, stackOf } from "./stack.ts";
import { systemdUnits } from "./systemd.ts";

export type { ExportRequest };

export interface ExportedFile {
  readonly path: string;
  readonly text: string;
}

export interface Exported {
  readonly stack: Stack;
  readonly files: readonly ExportedFile[];
}

/** Exports a configuration. Throws `bad_request` if it cannot be expressed on the engine. */
export function exportStack(request: ExportRequest): Exported {
  const stack = stackOf(request);
  return { stack, files: FORMS[request.to](stack, request) };
}

type Form = (stack: Stack, request: ExportRequest) => ExportedFile[];

const FORMS: Readonly<Record<ExportRequest["to"], Form>> = {
  kubernetes(stack, { to }) {
    const documents = kubernetesManifests(stack).map((manifest) => `---\n${yaml(manifest)}\n`);
    const needs = stack.apps.flatMap(({ variables, files }) => [
      ...Object.keys(variables).filter((name) => variables[name]),
      ...Object.keys(files),
    ]);
    const secret = secretName(stack);
    const advice = `The Secret ${secret} must have: ${[...new Set(needs)].join(", ")}.\n` +
      `kubectl create secret generic ${secret} --from-literal=NAME=… --from-file=NAME=…`;
    const text = head(stack, to, stack.losses, needs.length === 0 ? undefined : advice);
    return [{ path: `${stack.name}.kubernetes.yaml`, text: text + documents.join("") }];
  },
  compose: (stack, { to }) => [composed(stack, to, composeFile(stack))],
  swarm: (stack, { to, ports }) => [composed(stack, to, swarmFile(stack, ports))],
  nomad: (stack) =>
    stack.apps.map((app) => ({
      path: `${stack.name}-${app.id}.nomad.json`,
      text: `${JSON.stringify(nomadJob(app), null, 2)}\n`,
    })),
  systemd: (stack, { to }) =>
    systemdUnits(stack).map(({ path, sections, advice, app }) => {
      const isMain = /\.(service|target)$/.test(path);
      const lost = stack.losses.filter((loss) => isMain && loss.app === app);
      const blocks = Object.entries(sections).map(([section, settings]) => {
        const lines = settings.filter(([, value]) => value !== undefined)
          .map(([name, value]) => `${name}=${oneLine(value!)}\n`);
        return `[${section}]\n${lines.join("")}`;
      });
      return { path, text: head(stack, to, lost, advice) + blocks.join("\n") };
    }),
  dockerfile(stack, { to, base }) {
    const has = (path: string) => lookAt(`${stack.folder}/${path}`) !== undefined;
    const text = dockerfile(stack, has, base);
    return [
      { path: "Dockerfile", text: head(stack, to, stack.losses) + text },
      { path: ".dockerignore", text: dockerignore(stack) },
    ];
  },
};

function composed(stack: Stack, to: string, value: unknown): ExportedFile {
  const text = `${head(stack, to, stack.losses)}${yaml(value)}\n`;
  return { path: `${stack.name}.${to}.yaml`, text };
}

/** Escapes line breaks: a setting is one line. */
function oneLine(value: string | number): string {
  return String(value).replaceAll("\n", "\\n").replaceAll("\r", "\\r");
}

/** The comments above a file. */
function head({ file }: Stack, to: string, losses: readonly Loss[], advice?: string): string {
  const lost = losses.map((loss) => `No counterpart: ${lossText(loss)}`);
  return [`Written by procsup export ${to} ${file}.`, advice ?? [], ...lost].flat()
    .flatMap((text) => text.split(/[\r\n\x85\u2028\u2029]+/))
    .map((line) => `# ${plainText(line)}\n`).join("");
}

/** The text of a loss: `api: watch: why it has no counterpart`. */
export function lossText({ app, key, text }: Loss): string {
  return `${app === undefined ? "" : `${app}: `}${key}: ${text}`;
}
