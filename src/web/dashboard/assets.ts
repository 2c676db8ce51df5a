/** The files of the dashboard, as they stand in the program: path → type and text. */

import index from "./index.html" with { type: "text" };

/** One file. */
export interface Asset {
  readonly type: string;
  readonly text: string;
}

/** Every file there is: nothing else is served. `/` and `/assets/…`. */
export const ASSETS: Readonly<Record<string, Asset>> = {
  "/": { type: "text/html; charset=utf-8", text: index },
};
