/** Compares processes or apps: each has a line in every chart. */

import { Chart, HUES } from "../host/chart.tsx";
import { Empty, Trail } from "../controls/controls.tsx";
import { RangePicker } from "../controls/range_picker.tsx";
import { useSeriesOf } from "../data/past.ts";
import { place, range } from "../data/router.ts";
import { FIGURES } from "./process_summary.tsx";

/** Each line has a colour of its own. */
export const MOST_COMPARED = HUES;

export function Compare() {
  const names = place.value.params.getAll("t").slice(0, MOST_COMPARED);
  return (
    <>
      <Trail />
      <div class="page-head">
        <h1>Compare</h1>
        <RangePicker />
      </div>
      {names.length < 2
        ? <Empty title="Nothing to compare">Select two processes or more in the list.</Empty>
        : <Charts names={names} />}
    </>
  );
}

function Charts({ names }: { names: readonly string[] }) {
  const lines = useSeriesOf(range.value, names);
  return (
    <div class="charts">
      {FIGURES.map((figure) => <Chart key={figure.of} {...figure} lines={lines} />)}
    </div>
  );
}
