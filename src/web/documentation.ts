/** The documentation in a browser: Markdown source with links. */

import { PAGES, pageText } from "../docs/pages.ts";

/** The page of a topic, or the list of topics; undefined if there is no such page. */
export async function documentation(topic?: string): Promise<string | undefined> {
  const text = topic === undefined ? topics() : await pageText(topic);
  if (text === undefined) return undefined;
  const title = text.slice(2, text.indexOf("\n"));
  const body = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;")
    .replace(/\[([^\]]*)\]\((\w+)\.md(?:#[\w-]+)?\)/g, '<a href="/docs/$2">$1</a>')
    // The source code is not served.
    .replace(/\[([^\]]*)\]\(\.\.[^)]*\)/g, "$1")
    .replace(/\[([^\]]*)\]\((https?:[^)]*)\)/g, '<a href="$2">$1</a>');
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>${title} · procsup</title>` +
    `<p><a href="/">Dashboard</a> · <a href="/docs">Topics</a></p><pre>${body}</pre></html>\n`;
}

function topics(): string {
  const lines = Object.entries(PAGES).map(([topic, { title }]) => `- [${title}](${topic}.md)`);
  return `# Documentation\n\n${lines.join("\n")}\n`;
}
