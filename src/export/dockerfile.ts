/** The Dockerfile for a folder of apps with procsup. */

import { singleQuoted } from "../model/shell_line.ts";
import { basename } from "@std/path";
import { commandLine } from "../runtimes/command_line.ts";
import { APP_FOLDER, fileWords, PROGRAM, type Stack } from "./stack.ts";

interface Layer {
  /** Image with the runtime: the newest release of its major version. */
  readonly image: string;
  /** Files and folders of that image that contain the runtime. */
  readonly paths: readonly string[];
  /** Project file → the command that installs its dependencies. */
  readonly install: Readonly<Record<string, string>>;
  /** Variables to set, as those of its image are not copied. Packages go into the apps' folder. */
  readonly env?: string;
}

const APT = "apt-get update && apt-get install -y --no-install-recommends";

const LAYERS: Readonly<Record<string, Layer>> = {
  node: {
    image: "node:24-bookworm-slim",
    paths: ["/usr/local"],
    install: {
      "pnpm-lock.yaml": "corepack enable && pnpm install --frozen-lockfile --prod",
      "yarn.lock": "corepack enable && yarn install --immutable",
      "package-lock.json": "npm ci --omit=dev",
      "package.json": "npm install --omit=dev",
    },
  },
  python: {
    image: "python:3.13-slim-bookworm",
    paths: ["/usr/local"],
    install: {
      "requirements.txt": "pip install --no-cache-dir -r requirements.txt",
      "pyproject.toml": "pip install --no-cache-dir .",
    },
  },
  deno: {
    image: "denoland/deno:debian-2.9.6",
    paths: ["/usr/bin/deno"],
    env: `DENO_DIR=${APP_FOLDER}/.deno`,
    install: { "deno.lock": "deno install --frozen", "deno.json": "deno install" },
  },
  bun: {
    image: "oven/bun:1-debian",
    paths: ["/usr/local/bin"],
    install: {
      "bun.lock": "bun install --production --frozen-lockfile",
      "package.json": "bun install",
    },
  },
  go: {
    image: "golang:1-bookworm",
    paths: ["/usr/local/go"],
    env: `PATH=/usr/local/go/bin:$PATH GOPATH=${APP_FOLDER}/.go GOCACHE=/tmp/go-build`,
    install: { "go.mod": "go build ./..." },
  },
  ruby: {
    image: "ruby:3.4-slim-bookworm",
    paths: ["/usr/local"],
    install: { "Gemfile": `${APT} build-essential && bundle install` },
  },
  php: {
    image: "php:8.4-cli-bookworm",
    paths: ["/usr/local"],
    install: { "composer.json": `${APT} composer && composer install --no-dev` },
  },
};

/** Program → runtime, for apps that name a program: `command: npm start`. */
const PROGRAMS: Readonly<Record<string, string>> = {
  ...{ node: "node", npm: "node", npx: "node", pnpm: "node", yarn: "node" },
  ...{ python: "python", pip: "python", deno: "deno", bun: "bun", bunx: "bun", go: "go" },
  ...{ ruby: "ruby", bundle: "ruby", rake: "ruby", php: "php", composer: "php" },
};

const PLAIN = "debian:bookworm-slim";

const LEFT_OUT = [".env", ".env.*", "**/node_modules", "**/.venv", ".git", "**/__pycache__"];

/** The `.dockerignore` file: secrets, and files that the build creates. */
export function dockerignore({ secretFiles }: Stack): string {
  // The first "/" keeps a "!" or "#" from being more than a character.
  const secrets = secretFiles.map((path) => `/${path.replace(/[\\*?[\]]/g, "\\$&")}`);
  return [...LEFT_OUT, ...secrets].map((line) => `${line}\n`).join("");
}

/** The text, for a folder that has files. `base` replaces the image of the first runtime. */
export function dockerfile(stack: Stack, has: (path: string) => boolean, base?: string): string {
  const runtimes = runtimesOf(stack);
  const [first = "", ...others] = runtimes;
  const from = base ?? LAYERS[first]?.image ?? PLAIN;
  const secrets = stack.secretFiles.map((path) => `${APP_FOLDER}/${path}`);
  const needsRoot = stack.apps.some(({ config: { uid, gid } }) => (uid ?? gid) !== undefined);
  return [
    "# The image that has procsup: `procsup image` makes it of the program that runs it.",
    "ARG PROCSUP=procsup",
    "FROM ${PROCSUP} AS procsup",
    "",
    `FROM ${from} AS runtime`,
    ...(base === undefined ? others : []).flatMap((name) =>
      LAYERS[name]!.paths.map((path) => `COPY --from=${LAYERS[name]!.image} ${path} ${path}`)
    ),
    ...runtimes.flatMap((name) => LAYERS[name]!.env ?? []).map((line) => `ENV ${line}`),
    "",
    "FROM runtime AS build",
    `WORKDIR ${APP_FOLDER}`,
    "COPY . .",
    // A folder may have a .dockerignore of its own.
    `RUN rm -rf ${[".git", ...secrets].map(singleQuoted).join(" ")}`,
    ...runtimes.flatMap((name) => installed(name, has)),
    "",
    "FROM runtime",
    `COPY --from=procsup ${PROGRAM} ${PROGRAM}`,
    "ENV PROCSUP_CACHE=/var/cache/procsup",
    'RUN procsup version && chmod -R a+rX,go-w "$PROCSUP_CACHE"',
    ...["python", "ruby", "php"].some((name) => runtimes.includes(name))
      ? ["COPY --from=build /usr/local /usr/local"]
      : [],
    `COPY --from=build ${APP_FOLDER} ${APP_FOLDER}`,
    `WORKDIR ${APP_FOLDER}`,
    ...(needsRoot ? [] : ["USER 65534:65534"]),
    `ENTRYPOINT ["${PROGRAM}"]`,
    `CMD ${JSON.stringify(["run", ...fileWords(stack)])}`,
    "",
  ].join("\n");
}

/** Runtimes of the apps, most used first. */
function runtimesOf({ apps, losses }: Stack): string[] {
  const counts = new Map<string, number>();
  for (const { name, config } of apps) {
    let runtime = config.runtime as string;
    try {
      runtime =
        commandLine(config, { path: Deno.env.get("PATH") ?? "", versions: "assumed" }).runtime;
    } catch {
      if (runtime === "auto") {
        losses.push({ app: name, key: "runtime", text: "unknown here: the image may lack it" });
      }
    }
    // `/usr/bin/python3.11` is `python`.
    const program = basename(config.entrypoint).replace(/[\d.]+$/, "");
    if (runtime === "auto") runtime = PROGRAMS[program] ?? runtime;
    if (runtime !== "auto") counts.set(runtime, (counts.get(runtime) ?? 0) + 1);
  }
  return [...counts].sort(([, a], [, b]) => b - a).map(([name]) => name);
}

function installed(runtime: string, has: (path: string) => boolean): string[] {
  const found = Object.entries(LAYERS[runtime]!.install).find(([file]) => has(file));
  return found === undefined ? [] : [`RUN ${found[1]}`];
}
