/** The pages of the documentation. The text of a page is loaded on demand. */

/** One page. */
export interface Page {
  readonly title: string;
  readonly load: () => Promise<{ readonly default: string }>;
}

/** Topic → page, in the order in which lists show them. */
export const PAGES: Readonly<Record<string, Page>> = {
  starting: page("Starting apps", () => import("./starting.md", { with: { type: "text" } })),
  recipes: page("Known programs", () => import("./recipes.md", { with: { type: "text" } })),
  targets: page("Targets and results", () => import("./targets.md", { with: { type: "text" } })),
  configuration: page(
    "Configuration",
    () => import("./configuration.md", { with: { type: "text" } }),
  ),
  keys: page("Configuration keys", () => import("./keys.md", { with: { type: "text" } })),
  restarts: page("Restarts", () => import("./restarts.md", { with: { type: "text" } })),
  health: page(
    "Readiness, health and dependencies",
    () => import("./health.md", { with: { type: "text" } }),
  ),
  notify: page("Notify messages", () => import("./notify.md", { with: { type: "text" } })),
  hooks: page("Hooks", () => import("./hooks.md", { with: { type: "text" } })),
  input: page("Input and terminals", () => import("./input.md", { with: { type: "text" } })),
  logging: page("Logs", () => import("./logging.md", { with: { type: "text" } })),
  shipping: page("Shipping logs", () => import("./shipping.md", { with: { type: "text" } })),
  jobs: page("Jobs", () => import("./jobs.md", { with: { type: "text" } })),
  sockets: page(
    "Sockets and zero-downtime reloads",
    () => import("./sockets.md", { with: { type: "text" } }),
  ),
  releases: page("Releases", () => import("./releases.md", { with: { type: "text" } })),
  users: page("Users and limits", () => import("./users.md", { with: { type: "text" } })),
  boot: page("At boot", () => import("./boot.md", { with: { type: "text" } })),
  upgrading: page(
    "Upgrades and backup",
    () => import("./upgrading.md", { with: { type: "text" } }),
  ),
  containers: page(
    "Containers and the foreground",
    () => import("./containers.md", { with: { type: "text" } }),
  ),
  beyond: page("Beyond one machine", () => import("./beyond.md", { with: { type: "text" } })),
  engines: page(
    "Flags and keys by engine",
    () => import("./engines.md", { with: { type: "text" } }),
  ),
  dashboard: page(
    "Dashboard and live view",
    () => import("./dashboard.md", { with: { type: "text" } }),
  ),
  proxy: page("Behind a proxy", () => import("./proxy.md", { with: { type: "text" } })),
  rest: page("REST and metrics", () => import("./rest.md", { with: { type: "text" } })),
  routes: page("REST routes", () => import("./routes.md", { with: { type: "text" } })),
  history: page("Metrics history", () => import("./history.md", { with: { type: "text" } })),
  webhooks: page("Webhooks", () => import("./webhooks.md", { with: { type: "text" } })),
  alerting: page("Alerts", () => import("./alerting.md", { with: { type: "text" } })),
  journal: page("Events", () => import("./journal.md", { with: { type: "text" } })),
  tokens: page("Tokens and roles", () => import("./tokens.md", { with: { type: "text" } })),
  agents: page("Agents", () => import("./agents.md", { with: { type: "text" } })),
  library: page("The library", () => import("./library.md", { with: { type: "text" } })),
  programs: page("Five programs", () => import("./programs.md", { with: { type: "text" } })),
  client: page("The client", () => import("./client.md", { with: { type: "text" } })),
  remote: page("Other machines", () => import("./remote.md", { with: { type: "text" } })),
  migrating: page("Migrating", () => import("./migrating.md", { with: { type: "text" } })),
  pm2: page("From PM2", () => import("./pm2.md", { with: { type: "text" } })),
  supervisord: page(
    "From supervisord, circus and pup",
    () => import("./supervisord.md", { with: { type: "text" } }),
  ),
  systemd: page("From systemd and cron", () => import("./systemd.md", { with: { type: "text" } })),
  compose: page(
    "From docker compose and process-compose",
    () => import("./compose.md", { with: { type: "text" } }),
  ),
  procfile: page(
    "From a Procfile and from mprocs",
    () => import("./procfile.md", { with: { type: "text" } }),
  ),
  security: page("Security model", () => import("./security.md", { with: { type: "text" } })),
  faults: page("Faults, and what happens", () => import("./faults.md", { with: { type: "text" } })),
  errors: page("Errors and exit codes", () => import("./errors.md", { with: { type: "text" } })),
  commands: page("Commands", () => import("./commands.md", { with: { type: "text" } })),
  architecture: page("Architecture", () => import("./architecture.md", { with: { type: "text" } })),
  packages: page("Packages", () => import("./packages.md", { with: { type: "text" } })),
  benchmark: page("Benchmark", () => import("./benchmark.md", { with: { type: "text" } })),
};

/** The page of a topic in Markdown; undefined if the topic is unknown. */
export async function pageText(topic: string): Promise<string | undefined> {
  return Object.hasOwn(PAGES, topic) ? (await PAGES[topic]!.load()).default : undefined;
}

function page(title: string, load: Page["load"]): Page {
  return { title, load };
}
