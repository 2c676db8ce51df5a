/** The filters of the table: search, states, grouping. */

import { linkTo, place, setParams } from "../data/router.ts";
import { mayAdminister, processList, stateCounts } from "../data/store.ts";
import { STATES } from "../data/types.ts";
import { Icon, Search, Select } from "../controls/controls.tsx";
import { StateShape } from "./process_figures.tsx";
import { counted } from "../data/format.ts";

const GROUPS = [
  ["", "No groups"],
  ["namespace", "By namespace"],
  ["app", "By app"],
  ["tag", "By tag"],
] as const;

/** The bar above the table. `shown` is the number of matching processes. */
export function ProcessFilters({ shown }: { shown: number }) {
  const { params } = place.value;
  const total = processList.value.length;
  return (
    <div class="page-head">
      <h1>
        Processes{" "}
        <span class="faint count">{shown === total ? total : `${shown} of ${total}`}</span>
      </h1>
      <span class="unseen" role="status">{counted(shown, "process", "processes")} shown</span>
      <Search
        label="Search processes"
        placeholder="name, ns:web, tag:db, label:k=v"
        value={params.get("q") ?? ""}
        onInput={(q) => setParams({ q })}
      >
        <kbd aria-hidden="true">/</kbd>
      </Search>
      <label class="group-by">
        <span class="unseen">Group by</span>
        <Select
          value={params.get("group") ?? ""}
          options={GROUPS}
          onChoose={(group) => setParams({ group })}
        />
      </label>
      {mayAdminister.value && (
        <a class="button primary" href={linkTo(["start"])}>
          <Icon name="add" />
          <span>Start</span>
        </a>
      )}
      <StateFilter />
    </div>
  );
}

function StateFilter() {
  const chosen = place.value.params.get("state") ?? "";
  const present = STATES.filter((state) => stateCounts.value.has(state) || state === chosen);
  if (present.length < 2 && chosen === "") return null;
  return (
    <div class="chips" role="group" aria-label="State">
      {present.map((state) => (
        <button
          key={state}
          type="button"
          class="chip"
          aria-pressed={chosen === state}
          onClick={() => setParams({ state: chosen === state ? "" : state })}
        >
          <StateShape state={state} />
          {state} <span class="chip-count">{stateCounts.value.get(state) ?? 0}</span>
        </button>
      ))}
    </div>
  );
}
