import { assertEquals } from "@std/assert";
import { exportText } from "./exporting.ts";

/** The lines of the Dockerfile with one of those instructions. */
async function linesOf(text: string, instruction: RegExp): Promise<string[]> {
  const { files: [file] } = await exportText(text, "dockerfile");
  return file!.text.split("\n").filter((line) => instruction.test(line));
}

Deno.test("dockerfile() includes the runtime of the program in a command", async () => {
  const text = `processes:
  web: { command: node server.js }
  docs: { command: npm run docs }
  tool: { command: go run main.go }
`;
  assertEquals(await linesOf(text, /^(FROM \w+:|COPY --from=\w+:|ENV PATH)/), [
    "FROM node:24-bookworm-slim AS runtime",
    "COPY --from=golang:1-bookworm /usr/local/go /usr/local/go",
    "ENV PATH=/usr/local/go/bin:$PATH GOPATH=/app/.go GOCACHE=/tmp/go-build",
  ]);
  const versioned = "processes: { web: { command: /usr/bin/python3.11 -m http.server } }\n";
  assertEquals(await linesOf(versioned, /^FROM \w+:/), [
    "FROM python:3.13-slim-bookworm AS runtime",
  ]);
});
