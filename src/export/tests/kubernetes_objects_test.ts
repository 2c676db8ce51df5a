import { assertEquals } from "@std/assert";
import { type Event, type Item, Workloads } from "../backends/kubernetes_objects.ts";
import ANSWERS from "./kubernetes_answers.json" with { type: "json" };

/** Recorded kubectl output for stacks on Kubernetes 1.20, without unused fields. */
const answers = ANSWERS as unknown as Readonly<Record<string, { items: Item[]; events: Event[] }>>;

/** The workloads as the backend sees them, with warnings for those that give no reason. */
function workloadsOf(stack: string): Workloads {
  const { items, events } = answers[stack]!;
  const workloads = new Workloads(items);
  const silent = workloads.silent();
  return workloads.with(
    events.filter(({ involvedObject }) => silent.has(involvedObject.uid)),
  );
}

const rolloutsOf = (stack: string) =>
  Object.fromEntries(
    workloadsOf(stack).rollouts().map(({ app, ok, state, reason }) => [
      ...[app, [ok, reason ? `${state}: ${reason}` : state]],
    ]),
  );

Deno.test("rollouts() fails with the engine's reason once the deadline has passed", () => {
  const image = 'ImagePullBackOff: Back-off pulling image "localhost/none:9"';
  assertEquals(rolloutsOf("img"), {
    web: [false, `0 of 1 ready: ${image}`],
    once: [false, `0 of 1 running: ${image}`],
  });
  assertEquals(rolloutsOf("uns").web, [
    false,
    "0 of 1 ready: Unschedulable: 0/2 nodes are available: 2 Insufficient memory.",
  ]);
  const secret = 'CreateContainerConfigError: secret "sec-secrets" not found';
  assertEquals(rolloutsOf("sec").web, [false, `0 of 1 ready: ${secret}`]);
  const { web, once } = rolloutsOf("quo");
  assertEquals([web![0], once![0]], [false, false]);
  for (const [_, text] of [web!, once!]) {
    assertEquals(/is forbidden: exceeded quota: q, requested: pods=1/.test(String(text)), true);
  }
  assertEquals(rolloutsOf("prb").web, [
    false,
    "0 of 1 ready: Unhealthy: Startup probe failed",
  ]);
});

Deno.test("rollouts() skips warnings that the cluster repeats for every pod", () => {
  const { items, events } = answers.prb!;
  const everywhere = events.map((event) => ({
    ...event,
    reason: "DNSConfigForming",
    message: "Nameserver limits were exceeded",
    lastTimestamp: "2099-01-01T00:00:00Z",
  }));
  const [web] = new Workloads(items).with([...everywhere, ...events]).rollouts();
  assertEquals(web!.reason, "Unhealthy: Startup probe failed");
});

Deno.test("rollouts() counts only replicas of the new revision, and explains their crashes", () => {
  const { web, worker, setup, tick } = rolloutsOf("shop");
  assertEquals(web, [undefined, "0 of 3 ready: CrashLoopBackOff: exit code 7, 2 restarts"]);
  assertEquals(worker, [true, "1 of 1 ready"]);
  assertEquals(setup, [true, "complete"]);
  assertEquals(tick, [true, "scheduled * * * * *"]);
});

Deno.test("copies() has a row for an app without copies", () => {
  const items = structuredClone(answers.shop!.items) as unknown as {
    metadata: Item["metadata"];
    kind: string;
    spec: { replicas?: number };
  }[];
  const web = items.find(({ kind, metadata: { labels } }) =>
    kind === "Deployment" && labels?.["app.kubernetes.io/name"] === "web"
  )!;
  web.spec.replicas = 0;
  const rest = items.filter(({ kind }) => kind !== "Pod") as unknown as Item[];
  const [copy] = new Workloads(rest).copies("web");
  assertEquals([copy?.name, copy?.state, copy?.ready], ["web", "no copies", false]);
});

Deno.test("rollouts() ignores the status of an earlier change", () => {
  const items = structuredClone(answers.shop!.items) as {
    kind: string;
    metadata: { generation: number };
  }[];
  for (const { kind, metadata } of items) if (kind === "Deployment") metadata.generation++;
  const { web, worker } = Object.fromEntries(
    new Workloads(items as unknown as Item[]).rollouts().map(({ app, ok }) => [app, [ok]]),
  );
  assertEquals([web, worker], [[undefined], [undefined]]);
});

Deno.test("completeRevisions() leaves out a Deployment during a rollout", () => {
  assertEquals([...workloadsOf("shop").completeRevisions()], [["worker", "1"]]);
});

Deno.test("copies() includes pods, and workloads without pods", () => {
  const shown = workloadsOf("shop").copies().map(({ app, state, ready, node, reason }) => [
    ...[app, state, ready, node, reason],
  ]);
  assertEquals(shown.filter(([app]) => app === "web").sort(), [
    ["web", "CrashLoopBackOff", false, "knode2", "CrashLoopBackOff: exit code 7, 2 restarts"],
    ["web", "Running", true, "knode1", ""],
    ["web", "Running", true, "knode1", ""],
    ["web", "Running", true, "knode2", ""],
  ]);
  assertEquals(shown.filter(([app]) => app === "setup"), [["setup", "complete", true, "-", ""]]);
  const quota = workloadsOf("quo").copies("web");
  assertEquals(quota.map(({ state, ready }) => [state, ready]), [["0 of 1 ready", false]]);
});

Deno.test("copies() and rollouts() are about the app's container, not one that the cluster adds", () => {
  const items = structuredClone(answers.shop!.items) as unknown as {
    kind: string;
    spec: { containers: unknown[] };
    status: { containerStatuses: unknown[] };
  }[];
  for (const { kind, spec, status } of items) {
    if (kind !== "Pod") continue;
    spec.containers.unshift({ name: "proxy", image: "proxy:1" });
    status.containerStatuses.unshift({ name: "proxy", restartCount: 0, state: { running: {} } });
  }
  const workloads = new Workloads(items as unknown as Item[]);
  assertEquals(workloads.copies(), workloadsOf("shop").copies());
  assertEquals(workloads.rollouts(), workloadsOf("shop").rollouts());
});

Deno.test("history() includes conditions, exits and events, newest first, without routine events", () => {
  const { events } = answers.img!;
  const lines = workloadsOf("img").history("web", events);
  assertEquals(lines[0]!.startsWith("ProgressDeadlineExceeded: ReplicaSet"), true, lines[0]);
  assertEquals(lines.some((line) => /: BackOff: Back-off pulling image/.test(line)), true);
  assertEquals(lines.filter((line) => /Scheduled|Pulling|once/.test(line)), []);
  const crash = workloadsOf("shop").history("web", answers.shop!.events);
  assertEquals(crash[0]!.endsWith(" on knode2: exit code 7, 2 restarts"), true, crash[0]);
});

Deno.test("runsSince() returns new, unfinished runs of the CronJob", () => {
  const { items } = answers.shop!;
  const cronJob = items.find(({ kind }) => kind === "CronJob")!;
  const owner = { apiVersion: "batch/v1", kind: "CronJob", name: "", uid: cronJob.metadata.uid };
  const run = (uid: string, conditions: readonly unknown[] = []) => ({
    kind: "Job",
    metadata: { name: uid, uid, ownerReferences: [owner] },
    status: { conditions },
  });
  const before = new Workloads([...items, run("earlier")]);
  const ended = run("ended", [{ type: "Complete", status: "True" }]);
  const now = new Workloads([...items, run("earlier"), run("new"), ended]);
  assertEquals(now.runsSince(before, [cronJob]).map(({ metadata }) => metadata.name), ["new"]);
  assertEquals(now.runsSince(before, []), []);
});
