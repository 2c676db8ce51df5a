/** One process as a row of the table, and as a card on a phone. */

import { linkTo } from "../data/router.ts";
import { isUp } from "../data/select.ts";
import type { ProcessJson } from "../data/types.ts";
import { counted } from "../text/format.ts";
import { memo } from "./memo.ts";
import { Awaited, Cpu, Memory, Ports, Uptime } from "./process_figures.tsx";
import { RowActions } from "./row_actions.tsx";
import { HealthBadge, StateBadge } from "./state_badge.tsx";

/** What both forms take. */
export interface ProcessRowProps {
  readonly process: ProcessJson;
  readonly selected: boolean;
  readonly onSelect: (id: string) => void;
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
          <div class="name-cell">
            <a class="clip" href={linkTo(["processes", name])} title={name}>{name}</a>
            <Labels process={process} />
          </div>
        </th>
        <td class="state" title={process.last_reason}>
          <StateBadge state={process.state} />
          <HealthBadge process={process} />
          <Awaited process={process} />
        </td>
        <td class="figure">{isUp(process) && <Cpu id={id} now={process.cpu_percent} />}</td>
        <td class="figure">{isUp(process) && <Memory id={id} now={process.memory_bytes} />}</td>
        <td class="ports optional">
          <Ports id={id} />
        </td>
        <td class="number">
          <Uptime process={process} />
        </td>
        <td class={`number${restarts > 0 ? " some" : ""}`}>{restarts}</td>
        <td class="number faint rare">{pid === 0 ? "–" : pid}</td>
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
    const { id, name, restarts, state, finished_at } = process;
    const hasTime = isUp(process) || (state !== "waiting" && finished_at !== null);
    return (
      <li class={`card process-card${selected ? " selected" : ""}`} data-row={name}>
        <div class="row">
          <Tick process={process} selected={selected} onSelect={onSelect} />
          <a class="card-name clip" href={linkTo(["processes", name])}>{name}</a>
          <StateBadge state={process.state} />
        </div>
        <div class="row wrap small">
          <HealthBadge process={process} />
          <Awaited process={process} />
          {isUp(process) && <Cpu id={id} now={process.cpu_percent} />}
          {isUp(process) && <Memory id={id} now={process.memory_bytes} />}
        </div>
        <div class="row between small">
          <span class="faint">
            {isUp(process) && "up "}
            {hasTime && <Uptime process={process} />}
            {hasTime && restarts > 0 && " · "}
            {restarts > 0 && counted(restarts, "restart")}
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
