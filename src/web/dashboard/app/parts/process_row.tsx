/** One process as a row of the table, and as a card on a phone. */

import { act } from "../data/actions.ts";
import { recent, round } from "../data/history.ts";
import { linkTo } from "../data/router.ts";
import { clock, mayOperate } from "../data/store.ts";
import type { ProcessJson } from "../data/types.ts";
import { bytes, percent, relative, span } from "../text/format.ts";
import { Button } from "./button.tsx";
import { Icon } from "./icon.tsx";
import { memo } from "./memo.ts";
import { Sparkline } from "./sparkline.tsx";
import { HealthBadge, StateBadge } from "./state_badge.tsx";

/** What both forms take. */
export interface ProcessRowProps {
  readonly process: ProcessJson;
  readonly selected: boolean;
  readonly onSelect: (id: string) => void;
}

/** Whether something of it runs. */
export function isUp({ state }: Pick<ProcessJson, "state">): boolean {
  return state === "running" || state === "starting" || state === "stopping";
}

/** A row. Drawn again only when the process itself changed; figures follow on their own. */
export const ProcessRow = memo(
  function ProcessRow({ process, selected, onSelect }: ProcessRowProps) {
    const { id, name, restarts, pid } = process;
    return (
      <tr class={selected ? "selected" : ""} data-row={name}>
        <td class="tick">
          <Tick process={process} selected={selected} onSelect={onSelect} />
        </td>
        <th scope="row" class="name">
          <a href={linkTo(["processes", name])}>{name}</a>
          <Labels process={process} />
        </th>
        <td>
          <StateBadge state={process.state} />
          <HealthBadge process={process} />
          <Retry process={process} />
        </td>
        <td class="figure">{isUp(process) && <Cpu id={id} now={process.cpu_percent} />}</td>
        <td class="figure">{isUp(process) && <Memory id={id} now={process.memory_bytes} />}</td>
        <td class="number">
          <Uptime process={process} />
        </td>
        <td class={`number${restarts > 0 ? " some" : ""}`}>{restarts}</td>
        <td class="number faint optional">{pid === 0 ? "–" : pid}</td>
        <td class="actions">
          <RowActions process={process} />
        </td>
      </tr>
    );
  },
);

/** A card. */
export const ProcessCard = memo(
  function ProcessCard({ process, selected, onSelect }: ProcessRowProps) {
    const { id, name, restarts } = process;
    return (
      <li class={`card process-card${selected ? " selected" : ""}`} data-row={name}>
        <div class="row">
          <Tick process={process} selected={selected} onSelect={onSelect} />
          <a class="card-name clip" href={linkTo(["processes", name])}>{name}</a>
          <StateBadge state={process.state} />
        </div>
        <div class="row wrap small">
          <HealthBadge process={process} />
          <Retry process={process} />
          {isUp(process) && <Cpu id={id} now={process.cpu_percent} />}
          {isUp(process) && <Memory id={id} now={process.memory_bytes} />}
        </div>
        <div class="row between small">
          <span class="faint">
            {isUp(process)
              ? (
                <>
                  up <Uptime process={process} />
                </>
              )
              : <Uptime process={process} />}
            {restarts > 0 && ` · ${restarts} restarts`}
          </span>
          <span class="actions">
            <RowActions process={process} />
          </span>
        </div>
      </li>
    );
  },
);

function Tick({ process: { id, name }, selected, onSelect }: ProcessRowProps) {
  return (
    <label class="tick-area">
      <input
        type="checkbox"
        aria-label={`Select ${name}`}
        checked={selected}
        onChange={() => onSelect(id)}
      />
    </label>
  );
}

function Labels({ process: { namespace, tags } }: { process: ProcessJson }) {
  const isPlain = namespace === "default" && tags.length === 0;
  if (isPlain) return null;
  return (
    <span class="labels">
      {namespace !== "default" && <span class="label">{namespace}</span>}
      {tags.slice(0, 3).map((tag) => <span class="label tag" key={tag}>#{tag}</span>)}
    </span>
  );
}

function Retry({ process: { next_restart_at, state } }: { process: ProcessJson }) {
  if (next_restart_at === null || state !== "waiting") return null;
  return <span class="faint small">again {relative(Date.parse(next_restart_at), clock.value)}
  </span>;
}

function Cpu({ id, now }: { id: string; now: number }) {
  round.value;
  return (
    <span class="measure">
      <Sparkline samples={recent(id, 60_000)} value={({ cpu }) => cpu} most={10} />
      <span class="number" title="CPU, percent of one core">{percent(now)}</span>
    </span>
  );
}

function Memory({ id, now }: { id: string; now: number }) {
  round.value;
  return (
    <span class="measure memory">
      <Sparkline samples={recent(id, 60_000)} value={({ memory }) => memory} most={now * 1.5} />
      <span class="number" title="Resident memory">{bytes(now)}</span>
    </span>
  );
}

/** How long it has been up, or when it ended. */
export function Uptime(
  { process: { state, started_at, finished_at, pid } }: { process: ProcessJson },
) {
  if (started_at !== null && pid !== 0) return <>{span(clock.value - Date.parse(started_at))}</>;
  if (state === "waiting" || finished_at === null) return <>–</>;
  return <span class="faint">{relative(Date.parse(finished_at), clock.value)}</span>;
}

/** Its buttons. */
export function RowActions({ process }: { process: ProcessJson }) {
  const { name } = process;
  const logs = linkTo(["logs"], new URLSearchParams({ t: name }));
  return (
    <>
      {mayOperate.value && (isUp(process) || process.state === "waiting"
        ? (
          <Button
            icon="stop"
            kind="quiet"
            label={`Stop ${name}`}
            onClick={() => act("stop", [name])}
          />
        )
        : (
          <Button
            icon="start"
            kind="quiet"
            label={`Start ${name}`}
            onClick={() => act("start", [name])}
          />
        ))}
      {mayOperate.value && (
        <Button
          icon="restart"
          kind="quiet"
          label={`Restart ${name}`}
          onClick={() => act("restart", [name])}
        />
      )}
      <a class="button quiet only-icon" href={logs} aria-label={`Logs of ${name}`} title="Logs">
        <Icon name="logs" />
      </a>
    </>
  );
}
