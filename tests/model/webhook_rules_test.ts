/** When webhooks report trouble and recovery, and when they retry. */

import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import type { ChangeType, Exit } from "../../src/model/process_info.ts";
import { shownUrl } from "../../src/model/webhook.ts";
import {
  recoveredIn,
  reportAt,
  retryAfter,
  retryDelay,
  signedText,
  type Standing,
  verdictOf,
} from "../../src/model/webhook_rules.ts";

const CONFIG = { minUptimeMs: 1000, successExitCodes: [0, 3] };
const CHECKED = { ...CONFIG, healthCheck: {} as never };

function standing(
  different: Partial<Standing> & { state?: string; desired?: string } = {},
): Standing {
  const { state = "running", desired = "up", ...rest } = different;
  const snapshot = { state, desired, lastExit: null } as Standing["snapshot"];
  return { snapshot, health: "unknown", uptimeMs: 0, config: CONFIG, ...rest };
}

function ended(desired: string, exit: Partial<Exit>): Standing {
  const lastExit = { code: null, signal: null, at: new Date(0), ...exit };
  return standing({ snapshot: { state: "stopped", desired, lastExit } as Standing["snapshot"] });
}

Deno.test("reportAt() names crash, errored, unhealthy, release_failed and overdue, and nothing else", () => {
  const all: ChangeType[] = [
    ...["added", "deleted", "adopted", "note", "healthy", "unhealthy", "starting"] as const,
    ...["running", "stopping", "stopped", "crashed", "errored", "waiting"] as const,
    ...["restarted", "released", "release_failed", "asked", "overdue"] as const,
  ];
  const reports = all.flatMap((type) => reportAt(type) ?? []);
  assertEquals(reports.sort(), ["crash", "errored", "overdue", "release_failed", "unhealthy"]);
});

Deno.test("recoveredIn() waits for ten times min_uptime, the uptime that resets restarts", () => {
  assertEquals(recoveredIn(standing({ uptimeMs: 0 })), 10_000);
  assertEquals(recoveredIn(standing({ uptimeMs: 9999 })), 1);
  assertEquals(recoveredIn(standing({ uptimeMs: 10_000 })), 0);
  for (const state of ["starting", "stopping", "waiting", "crashed", "errored"]) {
    assertEquals(recoveredIn(standing({ state, uptimeMs: 1e9 })), undefined, state);
  }
});

Deno.test("recoveredIn() is undefined until the health check passes", () => {
  for (const health of ["unknown", "unhealthy"] as const) {
    assertEquals(recoveredIn(standing({ config: CHECKED, health, uptimeMs: 1e9 })), undefined);
  }
  assertEquals(recoveredIn(standing({ config: CHECKED, health: "healthy", uptimeMs: 1e9 })), 0);
  assertEquals(recoveredIn(standing({ config: CHECKED, health: "healthy", uptimeMs: 4000 })), 6000);
});

Deno.test("recoveredIn() counts a job that succeeded, but not one that a user stopped", () => {
  assertEquals(recoveredIn(ended("up", { code: 0 })), 0);
  assertEquals(recoveredIn(ended("up", { code: 3 })), 0);
  assertEquals(recoveredIn(ended("up", { code: 1 })), undefined);
  assertEquals(recoveredIn(ended("up", { code: 128 + 15, signal: "SIGTERM" })), undefined);
  assertEquals(recoveredIn(ended("down", { code: 0 })), undefined);
});

Deno.test("verdictOf() retries only after 5xx, 429 and 408", () => {
  const again = [408, 429, 500, 502, 503, 504, 599];
  const delivered = [200, 201, 202, 204, 299];
  for (const status of again) assertEquals(verdictOf(status), "again", String(status));
  for (const status of delivered) assertEquals(verdictOf(status), "delivered", String(status));
  for (const status of [301, 302, 307, 400, 401, 404, 410, 413, 422]) {
    assertEquals(verdictOf(status), "refused", String(status));
  }
});

Deno.test("retryDelay() doubles up to five minutes, minus up to a half at random", () => {
  const webhook = { retryDelayMs: 1000 };
  const delays = [1, 2, 3, 4, 9, 10, 50].map((attempts) => retryDelay(webhook, attempts, 0));
  assertEquals(delays, [1000, 2000, 4000, 8000, 256_000, 300_000, 300_000]);
  fc.assert(
    fc.property(fc.nat(100), fc.double({ min: 0, max: 0.999, noNaN: true }), (more, random) => {
      const full = retryDelay(webhook, more + 1, 0);
      const delay = retryDelay(webhook, more + 1, random);
      assert(delay <= full && delay >= full / 2 - 1, `${delay} of ${full}`);
    }),
  );
});

Deno.test("retryDelay() honors the receiver's Retry-After within limits", () => {
  const webhook = { retryDelayMs: 1000 };
  assertEquals(retryDelay(webhook, 1, 0, 30_000), 30_000);
  assertEquals(retryDelay(webhook, 5, 0, 1000), 16_000);
  assertEquals(retryDelay(webhook, 1, 0, 24 * 3_600_000), 300_000);
});

Deno.test("retryAfter() reads seconds and dates, and ignores anything else", () => {
  const now = Date.parse("2026-01-01T00:00:00Z");
  assertEquals(retryAfter("120", now), 120_000);
  assertEquals(retryAfter("Thu, 01 Jan 2026 00:00:30 GMT", now), 30_000);
  for (const text of [null, "", "soon", "-5", "Wed, 31 Dec 2025 00:00:00 GMT"]) {
    assertEquals(retryAfter(text, now), 0, String(text));
  }
});

Deno.test("signedText() joins id, time and body as Standard Webhooks defines", () => {
  assertEquals(signedText("msg_1", 1614265330, '{"a":1}'), 'msg_1.1614265330.{"a":1}');
});

Deno.test("shownUrl() shows the host, and nothing that may be secret", () => {
  assertEquals(
    shownUrl("https://hooks.example.com/T0/B0/s3cret?x=1#y"),
    "https://hooks.example.com/…",
  );
  assertEquals(shownUrl("http://127.0.0.1:8080"), "http://127.0.0.1:8080/");
  assertEquals(shownUrl("http://h/?token=s3cret"), "http://h/…");
  assertEquals(shownUrl("http://user:s3cret@h/"), "http://h/");
  assertEquals(shownUrl("s3cret"), "…");
});
