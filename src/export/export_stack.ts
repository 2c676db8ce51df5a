/** Writes a stack as files of an engine, with a comment for each key without a counterpart. */

import { yaml } from "../model/yaml.ts";
import { lookAt } from "../platform/stat.ts";
import { composeFile, type PortMode, swarmFile } from "./compose.ts";
import { dockerfile, LEFT_OUT } from "./dockerfile.ts";
import type { Engine } from "./engines.ts";
import { kubernetesManifests, secretName } from "./kubernetes.ts";
import { nomadJob } from "./nomad.ts";
import { type Loss, type Stack, stackOf, type StackRequest } from "./stack.ts";
import { systemdUnits } from "./systemd.ts";

export interface ExportedFile {
  readonly path: string;
  readonly text: string;
}

export interface Exported {
  readonly stack: Stack;
  readonly files: readonly ExportedFile[];
}

export type ExportRequest = Omit<StackRequest, "engine"> & {
  readonly to: Engine | "dockerfile";
  /** How Swarm publishes ports. */
  readonly ports?: PortMode;
  readonly base?: string;
};

/** Exports a configuration. Throws `bad_request` if it cannot be expressed on the engine. */
export function exportStack(request: ExportRequest): Exported {
  const { to } = request;
  const stack = stackOf({ ...request, engine: to === "dockerfile" ? "compose" : to });
  return { stack, files: FORMS[to](stack, request) };
}

type Form = (stack: Stack, request: ExportRequest) => ExportedFile[];

const FORMS: Readonly<Record<ExportRequest["to"], Form>> = {
  kubernetes(stack) {
    const documents = kubernetesManifests(stack).map((manifest) => `---\n${yaml(manifest)}\n`);
    const needs = stack.apps.flatMap(({ variables, files }) => [
      ...Object.keys(variables).filter((name) => variables[name]),
      ...Object.keys(files),
    ]);
    const secret = secretName(stack);
    const advice = needs.length === 0 ? "" : comment(
      `The Secret ${secret} must have: ${[...new Set(needs)].join(", ")}.\n` +
        `kubectl create secret generic ${secret} --from-literal=NAME=… --from-file=NAME=…`,
    );
    const text = heading(stack, "kubernetes") + advice + comments(stack.losses);
    return [{ path: `${stack.name}.kubernetes.yaml`, text: text + documents.join("") }];
  },
  compose: (stack) => [composed(stack, "compose", composeFile(stack))],
  swarm: (stack, { ports = "ingress" }) => [composed(stack, "swarm", swarmFile(stack, ports))],
  nomad: (stack) =>
    stack.apps.map((app) => ({
      path: `${stack.name}-${app.id}.nomad.json`,
      text: `${JSON.stringify(nomadJob(app), null, 2)}\n`,
    })),
  systemd: (stack) =>
    systemdUnits(stack).map(({ path, sections, advice, app }) => {
      const isMain = /\.(service|target)$/.test(path);
      const lost = stack.losses.filter((loss) => isMain && loss.app === app);
      const note = advice === undefined ? "" : comment(advice);
      const head = heading(stack, "systemd") + note + comments(lost);
      const blocks = Object.entries(sections).map(([section, settings]) => {
        const lines = settings.filter(([, value]) => value !== undefined)
          .map(([name, value]) => `${name}=${oneLine(value!)}\n`);
        return `[${section}]\n${lines.join("")}`;
      });
      return { path, text: head + blocks.join("\n") };
    }),
  dockerfile(stack, { base }) {
    stack.losses.length = 0;
    const has = (path: string) => lookAt(`${stack.folder}/${path}`) !== undefined;
    const text = dockerfile(stack, has, base);
    const head = heading(stack, "dockerfile") + comments(stack.losses);
    return [
      { path: "Dockerfile", text: head + text },
      { path: ".dockerignore", text: `${LEFT_OUT.join("\n")}\n` },
    ];
  },
};

function composed(stack: Stack, engine: Engine, value: unknown): ExportedFile {
  const head = heading(stack, engine) + comments(stack.losses);
  return { path: `${stack.name}.${engine}.yaml`, text: `${head}${yaml(value)}\n` };
}

/** Escapes line breaks: a setting is one line. */
function oneLine(value: string | number): string {
  return String(value).replaceAll("\n", "\\n");
}

function heading({ file }: Stack, to: string): string {
  return `# Written by procsup export ${to} ${file}.\n`;
}

function comments(losses: readonly Loss[]): string {
  return losses.map((loss) => comment(`No counterpart: ${lossText(loss)}`)).join("");
}

/** The text of a loss: `api: watch: why it has no counterpart`. */
export function lossText({ app, key, text }: Loss): string {
  return `${app === undefined ? "" : `${app}: `}${key}: ${text}`;
}

function comment(text: string): string {
  return text.split(/[\r\n]+/).map((line) => `# ${line}\n`).join("");
}
