/** The plan of a configuration, and its results. */

import { baseName } from "../../../../model/name.ts";
import { useSignal } from "@preact/signals";
import { Fragment } from "preact";
import { call, messageOf } from "../data/api.ts";
import { linkTo } from "../data/router.ts";
import { processesOf } from "../data/store.ts";
import type { ConfigReloadResult } from "../../../../protocol/wire.ts";
import { plainLine } from "../logs/ansi.ts";
import { Button } from "../controls/controls.tsx";
import { goToChange } from "../process/actions.ts";
import { StateBadge } from "../process/process_figures.tsx";
import { counted } from "../data/format.ts";

export function workIn(plan: ConfigReloadResult): number {
  return plan.added.length + plan.changed.length + plan.removed.length + settingsOf(plan).length;
}

function settingsOf({ settings }: ConfigReloadResult): readonly Setting[] {
  return settings.filter(({ change }) => Object.hasOwn(SIGNS, change));
}

type Setting = ConfigReloadResult["settings"][number];

type Change = ConfigReloadResult["changes"][number];

interface PlanItem {
  readonly kind: keyof typeof SIGNS;
  readonly name: string;
  readonly what: string;
  readonly fields?: Change["fields"];
}

const SIGNS = { added: "+", changed: "~", removed: "−" } as const;

/** The plan, with the state of each process while it is applied. */
export function ConfigPlan({ plan, isApplying }: {
  readonly plan: ConfigReloadResult;
  readonly isApplying: boolean;
}) {
  const { added, removed, changes, unchanged, kept } = plan;
  const rest = [
    unchanged.length > 0 && `${counted(unchanged.length, "app")} unchanged`,
    kept.length > 0 && `${counted(kept.length, "app")} kept after removal from the file`,
  ].filter(Boolean).join(" · ");
  const items: readonly PlanItem[] = [
    ...added.map((name): PlanItem => ({ kind: "added", name, what: "is added and started" })),
    ...changes.map((change): PlanItem => (
      { kind: "changed", name: change.name, what: textOfChange(change), fields: change.fields }
    )),
    ...removed.map((name): PlanItem => ({ kind: "removed", name, what: "is stopped and deleted" })),
    ...settingsOf(plan).map(({ name, change, fields }): PlanItem => (
      { kind: change as keyof typeof SIGNS, name, what: `of the daemon is ${change}`, fields }
    )),
  ];
  return (
    <>
      <ul class="plan">
        {items.map(({ kind, name, what, fields }) => (
          <li key={`${name} ${what}`} class={`plan-${kind}`}>
            <p class="row wrap">
              <span class="plan-sign" aria-hidden="true">{SIGNS[kind]}</span>
              <strong>{name}</strong> <span class="faint">{what}</span>
              {isApplying &&
                processesOf(name).map(({ id, state }) => <StateBadge key={id} state={state} />)}
            </p>
            {fields && <FieldDiff fields={fields} />}
          </li>
        ))}
      </ul>
      {items.length === 0 && <p>Everything matches the configuration.</p>}
      {rest && <p class="faint small" title={[...unchanged, ...kept].join(", ")}>{rest}</p>}
    </>
  );
}

function textOfChange({ rolling, restart, stop, start }: Change): string {
  if (rolling) return "is changed, one instance after the other";
  if (restart) return "is changed and restarted";
  if (stop) return "is changed and stopped: its schedule starts it";
  return start ? "is changed and started" : "is changed without a restart";
}

export function ConfigOutcome({ done }: { done: ConfigReloadResult }) {
  const failed = done.results.filter(({ ok }) => !ok);
  const good = done.results.filter(({ ok }) => ok);
  return (
    <section class="panel" aria-labelledby="outcome">
      <h2 id="outcome">{failed.length === 0 ? "Applied" : "Applied in part"}</h2>
      {failed.map(({ name, error, error_line, last_output = [] }) => (
        <div key={name} class="bad-result">
          <p>
            <a href={linkTo(["processes", name])}>{name}</a> <span class="bad">{error}</span>
          </p>
          {error_line && (
            <p class="bad">
              <code>{plainLine(error_line)}</code>
            </p>
          )}
          {last_output.length > 0 && (
            <pre class="stderr" tabIndex={0}>{last_output.map(plainLine).join("\n")}</pre>
          )}
        </div>
      ))}
      {done.errors.length > failed.length && (
        <ul class="reasons">{done.errors.map((error) => <li key={error}>{error}</li>)}</ul>
      )}
      {good.length > 0 && (
        <p>
          <span class="is-running">✓</span> {counted(good.length, "process", "processes")}:{" "}
          {good.slice(0, 12).map(({ name }, index) => (
            <Fragment key={name}>
              {index > 0 && ", "}
              <a href={linkTo(["processes", name])}>{name}</a>
            </Fragment>
          ))}
          {good.length > 12 && ", …"}
        </p>
      )}
      {done.results.length === 0 && failed.length === 0 && <p>No changes were needed.</p>}
    </section>
  );
}

/** Old and new values, without masked ones. */
export function FieldDiff({ fields }: Pick<Change, "fields">) {
  return (
    <ul class="diff">
      {fields.map(({ field, from, to }) => (
        <li key={field}>
          <code class="faint">{field}</code>
          {from === undefined && to === undefined ? <span class="faint">changes</span> : (
            <span>
              {from !== undefined && (
                <del>
                  <span class="unseen">from</span> <code>{textOf(from)}</code>
                </del>
              )} {to !== undefined && (
                <ins>
                  <span class="unseen">to</span> <code>{textOf(to)}</code>
                </ins>
              )}
            </span>
          )}
        </li>
      ))}
    </ul>
  );
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

export function ConfigDrift({ name }: { name: string }) {
  const plan = useSignal<ConfigReloadResult | undefined>(undefined);
  const error = useSignal("");
  const compare = async () => {
    try {
      plan.value = await call("config_reload", { dry_run: true });
      error.value = "";
    } catch (reason) {
      error.value = messageOf(reason);
    }
  };
  return (
    <section class="panel drift" aria-live="polite">
      <div class="row between wrap">
        <p>
          {error.value
            ? <span class="bad">{error}</span>
            : plan.value === undefined
            ? <span class="faint">Does it still match its configuration file?</span>
            : <Verdict name={baseName(name)} plan={plan.value} />}
        </p>
        <span class="row wrap">
          <Button icon="file" onClick={() => void compare()}>Compare with the file</Button>
          <Button onClick={() => goToChange(name)}>Change…</Button>
        </span>
      </div>
      {plan.value && <FieldDiff fields={changeOf(name, plan.value)?.fields ?? []} />}
    </section>
  );
}

function Verdict({ name, plan }: { name: string; plan: ConfigReloadResult }) {
  const change = changeOf(name, plan);
  if (change !== undefined) {
    return (
      <>
        It differs from the file: applying the file would {change.restart ? "restart" : "change"}
        {" "}
        it. <a href="#/apply">Apply…</a>
      </>
    );
  }
  if (plan.unchanged.includes(name)) return <span class="is-running">✓ Matches the file.</span>;
  return <>It is not in the last applied file.</>;
}

function changeOf(name: string, { changes }: ConfigReloadResult) {
  return changes.find((change) => change.name === baseName(name));
}
