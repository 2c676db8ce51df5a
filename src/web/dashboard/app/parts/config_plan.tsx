/** What applying a configuration would do, and what it did. */

import type { ComponentChildren } from "preact";
import { Fragment } from "preact";
import { outcome, progress } from "../data/config_apply.ts";
import { linkTo } from "../data/router.ts";
import { baseName } from "../data/select.ts";
import { processList } from "../data/store.ts";
import type { ConfigReloadResult } from "../data/types.ts";
import { plainLine } from "../text/ansi.ts";
import { counted } from "../text/format.ts";
import { FieldDiff } from "./field_diff.tsx";
import { StateBadge } from "./state_badge.tsx";

/** How much there is to do. */
export function workIn(plan: ConfigReloadResult): number {
  return plan.added.length + plan.changed.length + plan.removed.length + settingsOf(plan).length;
}

/** What changes about the daemon itself. */
function settingsOf({ settings }: ConfigReloadResult): readonly Setting[] {
  return settings.filter(({ change }) => change !== "unchanged" && change !== "kept");
}

type Setting = ConfigReloadResult["settings"][number];

/** The plan; while it is carried out, with how each process is. */
export function ConfigPlan({ plan }: { plan: ConfigReloadResult }) {
  const { added, removed, changes, unchanged, kept } = plan;
  const rest = [
    unchanged.length > 0 && `${counted(unchanged.length, "app")} as it is`,
    kept.length > 0 && `${counted(kept.length, "app")} kept that the file no longer names`,
  ].filter(Boolean).join(" · ");
  return (
    <>
      <ul class="plan">
        {added.map((name) => (
          <Item
            key={name}
            kind="add"
            name={name}
            what="is added and started"
          />
        ))}
        {changes.map(({ name, restart, rolling, fields }) => (
          <Item
            key={name}
            kind="change"
            name={name}
            what={rolling
              ? "is changed, one instance after the other"
              : restart
              ? "is changed and restarted"
              : "is changed while it runs on"}
          >
            <FieldDiff fields={fields} />
          </Item>
        ))}
        {removed.map((name) => (
          <Item key={name} kind="remove" name={name} what="is stopped and deleted" />
        ))}
        {settingsOf(plan).map(({ name, change, fields }) => (
          <Item key={name} kind={KINDS[change]} name={name} what={`of the daemon is ${change}`}>
            <FieldDiff fields={fields} />
          </Item>
        ))}
      </ul>
      {workIn(plan) === 0 && <p>Everything is as the configuration says.</p>}
      {rest && <p class="faint small" title={[...unchanged, ...kept].join(", ")}>{rest}</p>}
    </>
  );
}

const KINDS: Readonly<Record<Setting["change"], keyof typeof SIGNS>> = {
  added: "add",
  changed: "change",
  removed: "remove",
  unchanged: "change",
  kept: "change",
};

const SIGNS = { add: "+", change: "~", remove: "−" } as const;

interface ItemProps {
  readonly kind: keyof typeof SIGNS;
  readonly name: string;
  readonly what: string;
  readonly children?: ComponentChildren;
}

function Item({ kind, name, what, children }: ItemProps) {
  const members = progress.value === "applying"
    ? processList.value.filter((process) => baseName(process.name) === name)
    : [];
  return (
    <li class={`plan-${kind}`}>
      <p class="row wrap">
        <span class="plan-sign" aria-hidden="true">{SIGNS[kind]}</span>
        <strong>{name}</strong> <span class="faint">{what}</span>
        {members.map(({ id, state }) => <StateBadge key={id} state={state} />)}
      </p>
      {children}
    </li>
  );
}

/** How it went. */
export function ConfigOutcome() {
  const done = outcome.value;
  if (done === undefined) return null;
  const failed = done.results.filter(({ ok }) => !ok);
  const good = done.results.filter(({ ok }) => ok);
  return (
    <section class="panel" aria-labelledby="outcome">
      <h2 id="outcome">{failed.length === 0 ? "Applied" : "Applied in part"}</h2>
      {failed.map(({ name, error, last_stderr = [] }) => (
        <div key={name} class="bad-result">
          <p>
            <a href={linkTo(["processes", name])}>{name}</a> <span class="bad">{error}</span>
          </p>
          {last_stderr.length > 0 && (
            <pre class="stderr" tabIndex={0}>{last_stderr.map(plainLine).join("\n")}</pre>
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
      {done.results.length === 0 && failed.length === 0 && <p>Nothing had to be changed.</p>}
    </section>
  );
}
