/**
 * The dashboard's files, embedded in the program. `scripts/build.ts` makes those in `built/` from
 * `app/`; a test fails if they are out of date.
 */

import script from "./built/app.js.txt" with { type: "text" };
import icon from "./icon.svg" with { type: "text" };
import page from "./index.html" with { type: "text" };
import base from "./app/controls/base.css" with { type: "text" };
import colors from "./app/controls/colors.css" with { type: "text" };
import controls from "./app/controls/controls.css" with { type: "text" };
import drawings from "./app/controls/drawings.css" with { type: "text" };
import floating from "./app/controls/floating.css" with { type: "text" };
import forms from "./app/controls/forms.css" with { type: "text" };
import frame from "./app/shell/frame.css" with { type: "text" };
import history from "./app/process/history.css" with { type: "text" };
import logs from "./app/logs/logs.css" with { type: "text" };
import pages from "./app/shell/pages.css" with { type: "text" };
import phone from "./app/shell/phone.css" with { type: "text" };
import stacked from "./app/process/stacked.css" with { type: "text" };
import table from "./app/process/table.css" with { type: "text" };

interface Asset {
  readonly text: string;
  /** `Content-Type`. */
  readonly type: string;
}

/** The later ones overrule those before them. */
const styles = [
  ...[base, controls, floating, frame, table, pages, drawings, forms],
  ...[history, stacked, logs, colors, phone],
].join("\n");

const SCRIPT = "text/javascript; charset=utf-8";

/** Path → file. */
export const ASSETS: Readonly<Record<string, Asset>> = {
  "/": { text: page, type: "text/html; charset=utf-8" },
  "/assets/app.js": { text: script, type: SCRIPT },
  "/assets/app.css": { text: styles, type: "text/css; charset=utf-8" },
  "/assets/icon.svg": { text: icon, type: "image/svg+xml" },
};

/** Files that only one page needs, by path. They take memory once they are requested. */
const LATER: Readonly<Record<string, () => Promise<{ readonly default: string }>>> = {
  "/assets/editor.js": () => import("./built/editor.js.txt", { with: { type: "text" } }),
  "/assets/schema.json": () => import("./built/schema.json.txt", { with: { type: "text" } }),
  "/assets/terminal.js": () => import("./built/terminal.js.txt", { with: { type: "text" } }),
};

/** A file of the dashboard; undefined if there is none at the path. */
export async function assetAt(path: string): Promise<Asset | undefined> {
  if (Object.hasOwn(ASSETS, path)) return ASSETS[path];
  if (!Object.hasOwn(LATER, path)) return undefined;
  const { default: text } = await LATER[path]!();
  return { text, type: path.endsWith(".json") ? "application/json" : SCRIPT };
}
