/** The pages of the documentation. The text of a page is loaded when it is asked for. */

/** One page. */
export interface Page {
  /** Its heading. */
  readonly title: string;
  readonly load: () => Promise<{ readonly default: string }>;
}

/** Topic → page, in the order in which lists show them. */
export const PAGES: Readonly<Record<string, Page>> = {
  starting: {
    title: "Starting apps",
    load: () => import("./starting.md", { with: { type: "text" } }),
  },
  targets: {
    title: "Targets and results",
    load: () => import("./targets.md", { with: { type: "text" } }),
  },
  configuration: {
    title: "Configuration",
    load: () => import("./configuration.md", { with: { type: "text" } }),
  },
  keys: {
    title: "Configuration keys",
    load: () => import("./keys.md", { with: { type: "text" } }),
  },
  restarts: {
    title: "Restarts",
    load: () => import("./restarts.md", { with: { type: "text" } }),
  },
  health: {
    title: "Readiness, health and dependencies",
    load: () => import("./health.md", { with: { type: "text" } }),
  },
  hooks: {
    title: "Hooks",
    load: () => import("./hooks.md", { with: { type: "text" } }),
  },
  input: {
    title: "Input and terminals",
    load: () => import("./input.md", { with: { type: "text" } }),
  },
  logging: {
    title: "Logs",
    load: () => import("./logging.md", { with: { type: "text" } }),
  },
  jobs: {
    title: "Jobs",
    load: () => import("./jobs.md", { with: { type: "text" } }),
  },
  sockets: {
    title: "Sockets and zero-downtime reloads",
    load: () => import("./sockets.md", { with: { type: "text" } }),
  },
  users: {
    title: "Users and limits",
    load: () => import("./users.md", { with: { type: "text" } }),
  },
  boot: {
    title: "At boot",
    load: () => import("./boot.md", { with: { type: "text" } }),
  },
  upgrading: {
    title: "Upgrades and backup",
    load: () => import("./upgrading.md", { with: { type: "text" } }),
  },
  containers: {
    title: "Containers and the foreground",
    load: () => import("./containers.md", { with: { type: "text" } }),
  },
  beyond: {
    title: "Beyond one machine",
    load: () => import("./beyond.md", { with: { type: "text" } }),
  },
  engines: {
    title: "Keys by engine",
    load: () => import("./engines.md", { with: { type: "text" } }),
  },
  dashboard: {
    title: "Dashboard and live view",
    load: () => import("./dashboard.md", { with: { type: "text" } }),
  },
  rest: {
    title: "REST and metrics",
    load: () => import("./rest.md", { with: { type: "text" } }),
  },
  routes: {
    title: "REST routes",
    load: () => import("./routes.md", { with: { type: "text" } }),
  },
  history: {
    title: "Metrics history",
    load: () => import("./history.md", { with: { type: "text" } }),
  },
  webhooks: {
    title: "Webhooks",
    load: () => import("./webhooks.md", { with: { type: "text" } }),
  },
  journal: {
    title: "Events",
    load: () => import("./journal.md", { with: { type: "text" } }),
  },
  tokens: {
    title: "Tokens and roles",
    load: () => import("./tokens.md", { with: { type: "text" } }),
  },
  agents: {
    title: "Agents",
    load: () => import("./agents.md", { with: { type: "text" } }),
  },
  library: {
    title: "The library",
    load: () => import("./library.md", { with: { type: "text" } }),
  },
  programs: {
    title: "Five programs",
    load: () => import("./programs.md", { with: { type: "text" } }),
  },
  client: {
    title: "The client",
    load: () => import("./client.md", { with: { type: "text" } }),
  },
  remote: {
    title: "Other machines",
    load: () => import("./remote.md", { with: { type: "text" } }),
  },
  migrating: {
    title: "Migrating",
    load: () => import("./migrating.md", { with: { type: "text" } }),
  },
  security: {
    title: "Security model",
    load: () => import("./security.md", { with: { type: "text" } }),
  },
  faults: {
    title: "Faults, and what happens",
    load: () => import("./faults.md", { with: { type: "text" } }),
  },
  errors: {
    title: "Errors and exit codes",
    load: () => import("./errors.md", { with: { type: "text" } }),
  },
  commands: {
    title: "Commands",
    load: () => import("./commands.md", { with: { type: "text" } }),
  },
  architecture: {
    title: "Architecture",
    load: () => import("./architecture.md", { with: { type: "text" } }),
  },
  packages: {
    title: "Packages",
    load: () => import("./packages.md", { with: { type: "text" } }),
  },
};

/** The page of that topic in Markdown, undefined if there is no such page. */
export async function pageText(topic: string): Promise<string | undefined> {
  return Object.hasOwn(PAGES, topic) ? (await PAGES[topic]!.load()).default : undefined;
}
