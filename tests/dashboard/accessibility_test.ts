/** axe-core on every screen, in both themes and on a phone, where nothing may overflow. */

import { assert, assertEquals } from "@std/assert";
import { bringAxe, findings } from "./axe.ts";
import { browserTest, type Dashboard } from "./browser.ts";

const SCREENS = [
  "#/",
  "#/processes",
  "#/processes?group=namespace&q=a",
  "#/processes/talker",
  "#/processes/talker?tab=logs",
  "#/processes?view=compare&t=talker&t=db",
  "#/processes/talker?tab=health",
  "#/processes/talker?tab=hooks",
  "#/processes/nightly?tab=hooks",
  "#/processes/talker?tab=env",
  "#/processes/talker?tab=events",
  "#/processes/talker?tab=config",
  "#/processes/nobody",
  "#/logs",
  "#/logs?t=talker&t=db&cols=1",
  "#/logs?t=talker&s=red",
  "#/processes?view=graph",
  "#/jobs",
  "#/settings/webhooks",
  "#/settings",
  "#/settings/tokens",
  "#/settings/machines",
  "#/start",
  "#/apply",
];

/** What a screen shows once its data has come, where that is not there at once. */
const SHOWN: Readonly<Record<string, string>> = {
  "#/processes/talker?tab=logs": ".log-row",
  "#/logs?t=talker&t=db&cols=1": ".log-row",
  "#/logs?t=talker&s=red": ".log-row mark",
};

const LOOKS = [
  { colorScheme: "light", width: 1440, height: 900, rules: "all" },
  { colorScheme: "dark", width: 1024, height: 768, rules: "all" },
  { colorScheme: "light", width: 320, height: 640, rules: "others" },
] as const;

const SEVERE = ["serious", "critical"];

/** Standalone controls that are too small for a finger (links in text may be small). */
const SMALL = `[...document.querySelectorAll("button, .button, select, nav a, input[type=search]")]
  .filter((element) => !element.closest(".log-search .search, .search"))
  .map((element) => [element, element.getBoundingClientRect()])
  .filter(([, { width, height }]) => width > 0 && (height < 43.5 || width < 31))
  .map(([element, { width, height }]) => element.outerHTML.slice(0, 120) + " " + width + "x" + height)`;

const TWO_FRAMES =
  "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))";

const WIDTHS =
  "[document.documentElement.scrollWidth, ...[...document.querySelectorAll('main > *')]" +
  ".map((element) => Math.ceil(element.getBoundingClientRect().right))]";

async function setUp({ daemon }: Dashboard): Promise<void> {
  await daemon.startScript("db", "exec sleep 1000", { tags: ["db"], namespace: "core" });
  await daemon.startScript(
    "talker",
    `printf '\\033[31mred\\033[0m \\033[43mground\\033[0m \\033[2mdim\\033[0m\\n'; echo '{"level":"error"}' >&2; exec sleep 1000`,
    {
      depends_on: { db: "started" },
      env: { SECRET: "hunter2" },
      health_check: { type: "command", command: "exit 1", interval: "1s", retries: 1000 },
      hooks: { post_start: { command: "echo hooked" } },
    },
  );
  await daemon.startScript("crasher", "exit 3", { restart_policy: "never" });
  await daemon.startScript("name-".repeat(11), "exit 3", { restart_policy: "never" });
  await daemon.startScript("nightly", "true", { cron: { schedule: "@daily" } });
}

browserTest(
  "axe-core finds nothing serious on any screen, and nothing overflows on a phone",
  async (dashboard) => {
    const { page } = dashboard;
    await setUp(dashboard);
    await dashboard.signIn();
    await page.getByRole("heading", { name: "Timeline" }).waitFor();
    await bringAxe(page);
    const problems: string[] = [];
    for (const { colorScheme, width, height, rules } of LOOKS) {
      await page.setViewportSize({ width, height });
      await page.emulateMedia({ colorScheme });
      for (const hash of SCREENS) {
        await dashboard.go(hash);
        await page.locator(SHOWN[hash] ?? "main > *").first().waitFor({ state: "attached" });
        await page.evaluate(TWO_FRAMES);
        const where = `${hash} ${colorScheme} ${width}`;
        problems.push(
          ...(await findings(page, SEVERE, rules)).map((finding) => `${where}: ${finding}`),
        );
        if (width > 600) continue;
        const widths = await page.evaluate(WIDTHS) as number[];
        if (Math.max(...widths) > width) problems.push(`${where}: ${widths} sticks out`);
        const small = await page.evaluate(SMALL) as string[];
        problems.push(...small.map((text) => `${where}: too small: ${text}`));
      }
    }
    assertEquals(problems.join("\n"), "");
    // All screens are in the bar of a phone.
    await page.getByRole("link", { name: "Jobs" }).click();
    await page.getByRole("heading", { name: "Jobs" }).waitFor();
  },
);

browserTest("a screen reader gets roles and names", async (dashboard) => {
  const { page } = dashboard;
  await setUp(dashboard);
  await dashboard.signIn();
  await dashboard.go("#/processes");
  await page.locator('[data-row="talker"]').waitFor();
  const tree = await page.locator("body").ariaSnapshot();
  const wanted = [
    'link "Skip to content"',
    'navigation "Screens"',
    'heading "Processes 5"',
    'searchbox "Search processes"',
    'group "State"',
    'table "Processes"',
    'columnheader "Name"',
    'rowheader "talker"',
    'checkbox "Select talker"',
    'button "Stop talker"',
    'button "More actions on talker"',
    'link "Logs of talker"',
  ];
  for (const words of wanted) assert(tree.includes(words), `${words} is not in\n${tree}`);
});

browserTest("values of environment variables are nowhere in the page", async (dashboard) => {
  await setUp(dashboard);
  await dashboard.signIn();
  await dashboard.go("#/processes/talker?tab=config");
  await dashboard.page.getByText("SECRET").waitFor();
  assertEquals((await dashboard.page.content()).includes("hunter2"), false);
});
