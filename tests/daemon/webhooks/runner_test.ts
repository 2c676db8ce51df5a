/** Webhook events of a real supervisor. */

import { assertEquals } from "@std/assert";
import { DeliveryOutbox } from "../../../src/daemon/webhooks/delivery_outbox.ts";
import { Runner } from "../../../src/daemon/webhooks/runner.ts";
import type { ProcessChange } from "../../../src/model/process_info.ts";
import { parseWebhook } from "../../../src/model/config_schema.ts";
import { Receiver } from "../../support/receiver.ts";
import { TestManager } from "../../support/test_manager.ts";
import { waitFor } from "../../support/wait_for.ts";

function warn(message: string): never {
  throw new Error(message);
}

/** One webhook, of a supervisor to a receiver. */
function runnerFor({ home, supervisor }: TestManager, { url }: Receiver) {
  const folder = `${home}/webhooks`;
  Deno.mkdirSync(folder);
  const webhook = parseWebhook({ name: "ops", url }, "/");
  return {
    folder,
    runner: new Runner({ folder, supervisor, warn }, [{ webhook, key: undefined }]),
  };
}

Deno.test("Runner records a crash before it reads the app's last output", async () => {
  await using test = await TestManager.open();
  await using receiver = new Receiver(() => 200);
  const { supervisor } = test;
  const { runner, folder } = runnerFor(test, receiver);
  const crash = Promise.withResolvers<ProcessChange>();
  supervisor.events.listen((change) => change.type === "crashed" && crash.resolve(change));
  await test.script("app", "echo last words >&2; exit 3", { restart_policy: "never" });
  const change = await crash.promise;

  runner.notify(change);
  const left = () => new DeliveryOutbox(`${folder}/pending`, warn).left();
  const [delivery] = left();
  assertEquals([delivery?.event, delivery?.about, delivery?.to], ["crash", "app", "ops"]);

  await waitFor(() => receiver.got.length === 1 && runner.idle, { what: "the delivery" });
  const { id, body } = receiver.got[0]!;
  assertEquals([id, body.data.error_line, left()], [delivery!.id, "last words", []]);
  runner.close();
});

Deno.test("Runner reports a failed release with the failed run's output, and no recovery", async () => {
  await using test = await TestManager.open();
  await using receiver = new Receiver(() => 200);
  const { supervisor } = test;
  const { runner } = runnerFor(test, receiver);
  await test.script("app", "echo old run >&2; exec sleep 1000", { min_uptime: "1ms" });
  const { id, name, state, pid, restarts } = supervisor.inspect("app");
  const change: ProcessChange = {
    ...{ id, name, state, pid, restarts, at: new Date(), exit: null, by: "owner" },
    ...{ type: "release_failed", reason: "rolled back: exited with code 1\nnew \x1b[2Jrun\nbad" },
  };
  runner.notify(change);
  runner.notify({ ...change, type: "running", reason: "" });
  await waitFor(() => receiver.got.length > 0 && runner.idle, { what: "the delivery" });
  const { type, data } = receiver.got[0]!.body;
  assertEquals([type, data.process.reason], ["release_failed", "rolled back: exited with code 1"]);
  assertEquals(data.last_output, ["new run", "bad"]);
  assertEquals(receiver.got.length, 1);
  runner.close();
});
