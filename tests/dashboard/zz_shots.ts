import { chromium } from "playwright-core";
const [home, ...only] = Deno.args;
const link = new TextDecoder().decode((await new Deno.Command("deno", { args: ["run","-A","/work/main/main.ts","web","open"], env: { PROCSUP_HOME: home! } }).output()).stdout).match(/https?:\S+/)![0];
const dir = await Deno.makeTempDir({ prefix: "chromium-" });
const ctx = await chromium.launchPersistentContext(dir, { executablePath: "/usr/bin/chromium", headless: true, args: ["--headless","--no-sandbox","--disable-gpu","--disable-quic","--no-first-run","--disable-background-networking","--disable-component-update","--disable-sync"], viewport: { width: 1280, height: 800 }, colorScheme: "light" });
const page = ctx.pages()[0] ?? await ctx.newPage();
page.on("console", (m) => console.log("console", m.type(), m.text()));
page.on("pageerror", (e) => console.log("pageerror", e.message, e.stack?.slice(0,600)));
try {
  const t0 = performance.now();
  await page.goto(link);
  await page.waitForSelector("h1", {timeout: 8000});
  console.log("first paint ms", performance.now() - t0);
  const origin = new URL(page.url()).origin;
  await page.waitForTimeout(9000);
  const shots: [string, string][] = [["overview","#/"],["processes","#/processes"],["process","#/processes/mailer"],["plogs","#/processes/api?tab=logs"],["metrics","#/processes/api?tab=metrics"],["config","#/processes/api?tab=config"],["events","#/processes/api?tab=events"],["logs","#/logs"],["graph","#/graph"],["cron","#/cron"],["host","#/host"],["start","#/start"]];
  for (const [mode, w, h] of [["light",1280,800],["dark",1280,800],["phone",390,844]] as const) {
    await page.setViewportSize({ width: w, height: h });
    await page.emulateMedia({ colorScheme: mode === "dark" ? "dark" : "light" });
    for (const [name, hash] of shots) {
      if (only.length && !only.includes(name) && !only.includes(mode)) continue;
      await page.evaluate((h) => { location.hash = h; }, hash);
      await page.waitForTimeout(700);
      await page.screenshot({ path: `/tmp/shots/${mode}-${name}.png` });
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      if (overflow > 0) console.log("OVERFLOW", mode, name, overflow);
    }
  }
} finally { await ctx.close(); await Deno.remove(dir, { recursive: true }); }
