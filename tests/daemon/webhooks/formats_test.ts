/** Messages to chat services that contain hostile output of an app. */

import { testBody } from "../../../src/model/event_body.ts";
import { assert, assertEquals } from "@std/assert";
import { bodyIn, type Message, messageWith } from "../../../src/daemon/webhooks/message.ts";

const LINK = "https://box/#/processes/api?tab=metrics&at=2026-01-02T03%3A04%3A05.000Z";
const EVIL = "Error: <!channel> @everyone ``` [x](http://evil) & *b*";

/** A message about a crash. */
function crash(line: string, lines: readonly string[]): string {
  const data = {
    ...{ host: "box", error_line: line, last_output: lines },
    process: { name: "api", reason: "exited with code 1" },
  };
  return JSON.stringify({ type: "crash", timestamp: "2026-01-02T03:04:05Z", data });
}

Deno.test("bodyIn() leaves the standard format as it is", () => {
  const { body }: Message = messageWith(testBody("box", new Date(0)));
  assertEquals(bodyIn("standard", body), body);
});

Deno.test("bodyIn() writes a Slack message without mentions or links of the app", () => {
  const { text } = JSON.parse(bodyIn("slack", crash(EVIL, ["a", EVIL])));
  const [title, error, ...code] = text.split("\n");
  assertEquals(title, "api on box: crash, exited with code 1");
  assertEquals(error, "> Error: &lt;!channel&gt; @everyone ``` [x](http://evil) &amp; *b*");
  assertEquals([code[0], code[1], code.at(-1)], ["```", "a", "```"]);
  assertEquals(text.includes("<"), false);
});

Deno.test("bodyIn() writes a Discord message of at most 2,000 characters, without working mentions", () => {
  const long = Array<string>(20).fill("`".repeat(500));
  const { content, allowed_mentions } = JSON.parse(
    bodyIn("discord", crash(`${EVIL}${"*".repeat(1000)}`, long)),
  );
  assertEquals(allowed_mentions, { parse: [] });
  assert(content.length <= 2000, String(content.length));
  assertEquals(content.split("```").length, 3);
  assert(content.includes("\\[x\\]\\(http"), content);
});

Deno.test("bodyIn() writes an adaptive card for Teams, without Markdown, that links to the dashboard", () => {
  const whole = JSON.parse(crash(EVIL, ["a", "b"]));
  whole.data.link = LINK;
  for (const format of ["slack", "discord"] as const) {
    const { text, content } = JSON.parse(bodyIn(format, JSON.stringify(whole)));
    assertEquals((text ?? content).split("\n").at(-1).replaceAll("&amp;", "&"), LINK);
  }
  const { type, attachments: [card] } = JSON.parse(bodyIn("teams", JSON.stringify(whole)));
  assertEquals(card.content.actions.map(({ url }: { url: string }) => url), [LINK]);
  assertEquals([type, card.contentType], ["message", "application/vnd.microsoft.card.adaptive"]);
  const { body } = card.content;
  assertEquals(body.map((block: { inlines: { text: string }[] }) => block.inlines[0]!.text), [
    "api on box: crash, exited with code 1",
    EVIL,
    "a\nb",
  ]);
  assert(body.every((block: { type: string }) => block.type === "RichTextBlock"));
});

Deno.test("bodyIn() writes a test message in every format", () => {
  const { body } = messageWith(testBody("box", new Date(0)));
  for (const format of ["slack", "discord", "teams"] as const) {
    assert(bodyIn(format, body).includes("Test of procsup on box"), format);
  }
});
