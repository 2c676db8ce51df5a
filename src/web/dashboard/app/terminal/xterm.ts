/** The terminal of an app. A file of its own with xterm.js in it, which only the tab loads. */

import { FitAddon } from "@xterm/addon-fit";
import { Terminal } from "@xterm/xterm";
import css from "@xterm/xterm/css/xterm.css" with { type: "text" };
import { sleep } from "../../../../platform/clock.ts";
import type { TerminalPiece } from "../../../../protocol/process_json.ts";

/** Where the output begins: with the last lines, or at a position. */
export type Start = { readonly lines: number } | { readonly from: number };

interface Parts {
  readonly host: HTMLElement;
  /** Removes the terminal. */
  readonly signal: AbortSignal;
  /** Opens the stream of the output. */
  readonly read: (start: Start) => AsyncIterable<TerminalPiece>;
  /** Sends typed text to the app. */
  readonly type: (text: string) => Promise<unknown>;
  readonly resize: (size: { columns: number; rows: number }) => Promise<unknown>;
  /** Resolves when the daemon is connected; with `up` also only when the app runs. */
  readonly ready: (up: boolean) => Promise<void>;
  /** Shows a problem or the end of the app; empty while it is attached. */
  readonly tell: (what: string) => void;
  /** Moves the focus out of the terminal. */
  readonly leave: () => void;
}

/** Apps assume a dark ground. */
const THEME = { background: "#0e1014", foreground: "#e6e9ef" };

const RETRY_MS = 1000;
/** Time without a further change of the size before the app gets it. */
const RESIZE_MS = 100;
/** Below the maximum of a request. */
const MAX_TEXT = 60_000;

/** Shows the terminal of an app until the signal. */
export function openTerminal(parts: Parts): Terminal {
  const { host, signal, read, ready, tell, leave } = parts;
  permitStyles(signal);
  adopt(css, signal);
  const terminal = new Terminal({
    fontFamily: getComputedStyle(host).fontFamily,
    fontSize: 13,
    minimumContrastRatio: 4.5,
    theme: THEME,
  });
  const fit = new FitAddon();
  terminal.loadAddon(fit);
  terminal.open(host);
  fit.fit();
  if (document.querySelector(":focus-visible") === null) terminal.focus();
  terminal.attachCustomKeyEventHandler((event) => {
    if (!event.ctrlKey || event.key !== "]") return true;
    event.preventDefault();
    if (event.type === "keydown") leave();
    return false;
  });

  const sized = new ResizeObserver(() => fit.fit());
  sized.observe(host);
  const resize = (fewer = 0) =>
    parts.resize({ columns: terminal.cols, rows: Math.max(1, terminal.rows - fewer) });
  let timer: ReturnType<typeof setTimeout> | undefined;
  terminal.onResize(() => {
    clearTimeout(timer);
    timer = setTimeout(() => void resize().catch(() => {}), RESIZE_MS);
  });

  let isReplay = true;
  let typed = "";
  let isSending = false;
  const send = async () => {
    isSending = true;
    try {
      while (typed !== "") {
        // Not between the halves of a character.
        const text = typed.slice(0, MAX_TEXT).replace(/(?<=.)[\ud800-\udbff]$/s, "");
        typed = typed.slice(text.length);
        await parts.type(text);
      }
    } catch (error) {
      typed = "";
      tell(`Not sent: ${messageOf(error)}`);
    }
    isSending = false;
  };
  terminal.onData((text) => {
    // Questions in past output were answered at that time.
    if (isReplay) return;
    typed += text;
    if (!isSending) void send();
  });

  const follow = async () => {
    let [pid, isOver] = [0, false];
    let start: Start = { lines: terminal.rows };
    while (true) {
      await ready(isOver);
      if (signal.aborted) return;
      isOver = false;
      // Twice, so that the app draws its screen again.
      const redrawn = resize(1).then(() => resize()).then(() => tell(""));
      redrawn.catch((error) => tell(messageOf(error)));
      try {
        for await (const piece of read(start)) {
          if ("ended" in piece) {
            const code = piece.code === null ? "" : `, exit code ${piece.code}`;
            await redrawn.catch(() => {});
            tell(`Ended: ${piece.ended}${code}`);
            isOver = true;
            break;
          }
          // The terminal of a new run has the default size.
          if (pid > 0 && piece.pid > 0 && piece.pid !== pid) void resize().catch(() => {});
          pid = piece.pid || pid;
          start = { from: piece.position };
          await new Promise<void>((shown) => terminal.write(piece.text, shown));
          isReplay = false;
        }
      } catch (error) {
        if (!signal.aborted) tell(`${messageOf(error)}: connecting again…`);
      }
      isReplay = false;
      await sleep(RETRY_MS, signal);
    }
  };
  void follow();
  signal.addEventListener("abort", () => (sized.disconnect(), terminal.dispose()));
  return terminal;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * xterm.js writes `<style>` elements and `style` attributes, which the Content-Security-Policy refuses.
 * Until the signal, elements get such styles by a script, which it permits.
 */
function permitStyles(signal: AbortSignal): void {
  const createElement = document.createElement.bind(document);
  document.createElement = (tag: string, options?: ElementCreationOptions): HTMLElement => {
    const isSheet = tag === "style";
    const element = createElement(isSheet ? "span" : tag, options);
    if (isSheet) {
      const sheet = adopt("", signal);
      Object.defineProperty(element, "textContent", { set: (css) => sheet.replaceSync(css) });
    } else if (tag === "span") {
      element.setAttribute = (name, value) => {
        if (name === "style") element.style.cssText = value;
        else Element.prototype.setAttribute.call(element, name, value);
      };
    }
    return element;
  };
  signal.addEventListener("abort", () => Reflect.deleteProperty(document, "createElement"));
}

/** Adds a style sheet to the page until the signal. */
function adopt(css: string, signal: AbortSignal): CSSStyleSheet {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  document.adoptedStyleSheets.push(sheet);
  signal.addEventListener("abort", () => {
    const { adoptedStyleSheets: all } = document;
    document.adoptedStyleSheets = all.filter((one) => one !== sheet);
  });
  return sheet;
}
