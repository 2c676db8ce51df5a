/** The documentation as resources: `docs://topics` lists the pages, `docs://{topic}` is a page. */

import {
  type McpServer,
  ResourceNotFoundError,
  ResourceTemplate,
} from "@modelcontextprotocol/server";

const MARKDOWN = { mimeType: "text/markdown" } as const;

/** The list of topics, as an entry in the list of resources. */
export const TOPICS = {
  uri: "docs://topics",
  name: "docs",
  title: "Documentation",
  ...MARKDOWN,
  description: "Topics of the documentation of procsup; docs://TOPIC is a page",
} as const;

/** Registers both resources. The documentation is public, so they need no grant. */
export function registerDocumentation(server: McpServer): void {
  const { uri, name, ...about } = TOPICS;
  server.registerResource(name, uri, about, async (uri) => {
    const lines = (await topics()).map(([topic, title]) => `- docs://${topic} ${title}`);
    return markdown(uri, `# Documentation\n\n${lines.join("\n")}\n`);
  });
  const complete = {
    topic: async (value: string) =>
      (await topics()).map(([topic]) => topic).filter((topic) => topic.startsWith(value)),
  };
  server.registerResource(
    "docs-page",
    new ResourceTemplate("docs://{topic}", { list: undefined, complete }),
    { title: "Page of the documentation", ...MARKDOWN, description: "How procsup works" },
    async (uri, { topic }) => {
      const { pageText } = await import("../docs/pages.ts");
      const text = await pageText(String(topic));
      if (text === undefined) throw new ResourceNotFoundError(uri.href);
      return markdown(uri, text);
    },
  );
}

async function topics(): Promise<[topic: string, title: string][]> {
  const { PAGES } = await import("../docs/pages.ts");
  return Object.entries(PAGES).map(([topic, { title }]) => [topic, title]);
}

function markdown(uri: URL, text: string) {
  return { contents: [{ uri: uri.href, ...MARKDOWN, text }] };
}
