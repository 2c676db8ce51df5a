/** Brings the processes to what a configuration says: first the plan, then the deed. */

import {
  applyPlan,
  draft,
  makePlan,
  outcome,
  plan,
  problem,
  progress,
  touched,
} from "../data/config_apply.ts";
import { mayAdminister } from "../data/store.ts";
import { Button } from "../parts/button.tsx";
import { PathFields, Source, TextFields } from "../parts/config_fields.tsx";
import { ConfigOutcome, ConfigPlan, workIn } from "../parts/config_plan.tsx";
import { Empty } from "../parts/empty.tsx";
import { counted } from "../text/format.ts";

/** The screen. */
export function Apply() {
  if (!mayAdminister.value) {
    return <Empty title="Not allowed">It takes the role admin to apply a configuration.</Empty>;
  }
  const isText = draft.isText.value;
  const submit = (event: Event) => {
    event.preventDefault();
    void makePlan();
  };
  return (
    <>
      <div>
        <h1>Apply a configuration</h1>
        <p class="faint">Nothing happens before you have seen the plan.</p>
      </div>
      <div class="two">
        <form class="panel apply-form" onSubmit={submit}>
          <div class="chips" role="group" aria-label="Where it comes from">
            <Source isText text="Paste or upload" />
            <Source isText={false} text="A file on the machine" />
          </div>
          {isText ? <TextFields /> : <PathFields />}
          {problem.value && <pre class="problem" role="alert">{problem}</pre>}
          <div class="row end">
            <Button kind={plan.value ? "plain" : "primary"} submits disabled={isBusy()}>
              {progress.value === "planning" ? "Planning…" : "Show the plan"}
            </Button>
          </div>
        </form>
        <Result />
      </div>
    </>
  );
}

function isBusy(): boolean {
  return progress.value !== "idle";
}

function Result() {
  const known = plan.value;
  const work = known === undefined ? 0 : workIn(known);
  return (
    <div class="stack" aria-live="polite">
      {known && (
        <section class="panel" aria-labelledby="plan">
          <h2 id="plan">Plan</h2>
          <ConfigPlan plan={known} />
          <div class="row end">
            <Button onClick={touched}>Discard</Button>
            <Button
              kind="primary"
              disabled={work === 0 || isBusy()}
              onClick={() => void applyPlan()}
            >
              {progress.value === "applying"
                ? "Applying…"
                : work === 0
                ? "Nothing to do"
                : `Apply ${counted(work, "change")}`}
            </Button>
          </div>
        </section>
      )}
      <ConfigOutcome />
      {known === undefined && outcome.value === undefined && <Hint />}
    </div>
  );
}

function Hint() {
  return (
    <section class="panel">
      <h2>What you will see here</h2>
      <ul class="plan">
        <li class="plan-add">
          <span class="plan-sign" aria-hidden="true">+</span> apps that are added and started
        </li>
        <li class="plan-change">
          <span class="plan-sign" aria-hidden="true">~</span>{" "}
          apps that change: which keys, and whether that takes a restart
        </li>
        <li class="plan-remove">
          <span class="plan-sign" aria-hidden="true">−</span>{" "}
          apps that are deleted, if you asked for that
        </li>
      </ul>
    </section>
  );
}
