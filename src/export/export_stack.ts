/** Writes a stack as files of an engine, with a comment for each key without a counterpart. */

import { yaml } from "../model/yaml.ts";
import { lookAt } from "../platform/stat.ts";
import { composeFile, type PortMode, swarmFile } from "./compose.ts";
import { dockerfile, dockerignore } from "./dockerfile.ts";
import type { Engine } from "./engines.ts";
import { kubernetesManifests, secretName } from "./kubernetes.ts";
import { nomadJob } from "./nomad.ts";
import { type App, type Loss, type Stack, stackOf, type StackRequest } from "./stack.ts";
import { systemdUnits, type UnitFile } from "./systemd.ts";

/** A file to write. */
export interface ExportedFile {
  readonly path: string;
  readonly text: string;
}

/** The result of an export. */
export interface Exported {
  readonly stack: Stack;
  readonly files: readonly ExportedFile[];
}

export type ExportRequest = Omit<StackRequest, "engine"> & {
  readonly to: Engine | "dockerfile";
  /** How Swarm publishes ports. */
  readonly ports?: PortMode;
  /** Base of the image. */
  readonly base?: string;
};

/** Exports a configuration. Throws `bad_request` if it cannot be expressed on the engine. */
export function exportStack({ to, ports = "ingress", base, ...request }: ExportRequest): Exported {
  const stack = stackOf({ ...request, engine: to === "dockerfile" ? "compose" : to });
  if (to !== "dockerfile") return { stack, files: FORMS[to](stack, ports) };
  stack.losses.length = 0;
  const has = (path: string) => lookAt(`${stack.folder}/${path}`) !== undefined;
  const text = dockerfile(stack, { has, ...(base === undefined ? {} : { base }) });
  return {
    stack,
    files: [
      { path: "Dockerfile", text: `${heading(stack, "dockerfile")}${comments(stack)}${text}` },
      { path: ".dockerignore", text: dockerignore() },
    ],
  };
}

const FORMS: Readonly<Record<Engine, (stack: Stack, ports: PortMode) => ExportedFile[]>> = {
  kubernetes(stack) {
    const documents = kubernetesManifests(stack).map((manifest) => `---\n${yaml(manifest)}\n`);
    const needed = needsOf(stack);
    const advice = needed.length === 0 ? "" : comment(
      `The Secret ${secretName(stack)} must have: ${needed.join(", ")}.\n` +
        `kubectl create secret generic ${
          secretName(stack)
        } --from-literal=NAME=… --from-file=NAME=…`,
    );
    const text = `${heading(stack, "kubernetes")}${advice}${comments(stack)}${documents.join("")}`;
    return [{ path: `${stack.name}.kubernetes.yaml`, text }];
  },
  compose: (stack) => [composed(stack, "compose", composeFile(stack))],
  swarm: (stack, ports) => [composed(stack, "swarm", swarmFile(stack, ports))],
  nomad: (stack) =>
    stack.apps.map((app) => {
      const job = nomadJob(stack, app) as { Job: { Meta: Record<string, string> } };
      const lost = stack.losses.filter(({ app: name }) => name === undefined || name === app.name);
      // JSON has no comments.
      for (const { key, text } of lost) job.Job.Meta[`no counterpart: ${key}`] = text;
      return {
        path: `${stack.name}-${app.id}.nomad.json`,
        text: `${JSON.stringify(job, null, 2)}\n`,
      };
    }),
  systemd: (stack) => {
    const units = systemdUnits(stack);
    return units.map((unit) => ({ path: unit.path, text: unitText(stack, unit) }));
  },
};

function composed(stack: Stack, engine: Engine, value: unknown): ExportedFile {
  const head = heading(stack, engine) + comments(stack);
  return { path: `${stack.name}.${engine}.yaml`, text: `${head}${yaml(value)}\n` };
}

function needsOf({ apps }: Stack): string[] {
  const needs = (app: App) => [
    ...Object.keys(app.variables).filter((name) => app.variables[name]),
    ...Object.keys(app.files),
  ];
  return [...new Set(apps.flatMap(needs))];
}

function unitText(stack: Stack, { path, sections, advice, app }: UnitFile): string {
  const isMain = /\.(service|target)$/.test(path);
  const lost = stack.losses.filter((loss) => isMain && loss.app === app);
  const blocks = Object.entries(sections).map(([section, settings]) =>
    [`[${section}]`, ...settings.map(([name, value]) => `${name}=${oneLine(value)}`), ""].join("\n")
  );
  const head = heading(stack, "systemd") + advice.map(comment).join("") +
    lost.map(lossComment).join("");
  return `${head}${blocks.join("\n")}`;
}

/** Escapes line breaks: a setting is one line. */
function oneLine(value: string | number): string {
  return String(value).replaceAll("\n", "\\n");
}

function heading({ file }: Stack, to: string): string {
  return `# Written by procsup export ${to} ${file}.\n`;
}

function comments({ losses }: Stack): string {
  return losses.map(lossComment).join("");
}

function lossComment(loss: Loss): string {
  return comment(`No counterpart: ${lossText(loss)}`);
}

/** The text of a loss: `api: watch: why it has no counterpart`. */
export function lossText({ app, key, text }: Loss): string {
  return `${app === undefined ? "" : `${app}: `}${key}: ${text}`;
}

function comment(text: string): string {
  return text.split(/[\r\n]+/).map((line) => `# ${line}\n`).join("");
}
