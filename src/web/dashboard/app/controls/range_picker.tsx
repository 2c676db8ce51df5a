/** Selects the time range of charts, events and logs. */

import { useSignal } from "@preact/signals";
import { range, setRange } from "../data/router.ts";
import { between, endsOf, lookingAt, NOW, type Span, SPANS } from "../data/time_range.ts";
import { clock } from "../data/store.ts";
import { zoneAt } from "../data/format.ts";
import { Button, Select } from "./controls.tsx";

const RANGES: readonly (readonly [string, string])[] = [
  ...Object.entries(SPANS).map(([value, [text]]) => [value, text] as const),
  ["fixed", "From – to"],
  ["at", "Around a moment"],
];

export function RangePicker() {
  const { span, at } = range.value;
  const [from, to] = endsOf(range.value, span === undefined ? 0 : clock.value);
  const fixed = (from: number, to: number) => {
    if (to > from) setRange(between(from, to, at >= from && at <= to ? at : 0));
  };
  const move = (part: number) => fixed(from + part * (to - from), to + part * (to - from));
  const choose = (value: string) => {
    if (value in SPANS) setRange({ span: value as Span, from: 0, to: 0, at: 0 });
    else if (value === "at") setRange(lookingAt(clock.value - 60_000, range.value));
    else fixed(from, to);
  };
  return (
    <div class="range row wrap" role="group" aria-label="Time that is shown">
      <Select
        label="Time range"
        value={span ?? (at > 0 ? "at" : "fixed")}
        options={RANGES}
        onChoose={choose}
      />
      <span class="faint small">{zoneAt(to || clock.value)}</span>
      {span === undefined && (
        <>
          <Button onClick={() => setRange(NOW)}>Now</Button>
          {at > 0
            ? <Moment label="Moment" at={at} onChange={(at) => setRange(lookingAt(at, NOWHERE))} />
            : (
              <>
                <Moment label="From" at={from} onChange={(at) => fixed(at, to)} />
                <Moment label="To" at={to} onChange={(at) => fixed(from, at)} />
              </>
            )}
          <Button kind="quiet" label="Earlier" onClick={() => move(-0.5)}>‹</Button>
          <Button kind="quiet" label="Later" onClick={() => move(0.5)}>›</Button>
          <Button
            kind="quiet"
            label="Zoom out"
            onClick={() => fixed(from - (to - from) / 2, to + (to - from) / 2)}
          >
            –
          </Button>
        </>
      )}
    </div>
  );
}

const NOWHERE = between(0, 0);

/** A field for a time in the browser's time zone. It takes effect on Enter, or when it loses the focus. */
function Moment({ label, at, onChange }: {
  readonly label: string;
  readonly at: number;
  readonly onChange: (at: number) => void;
}) {
  // A browser reports each key. On the way to the year 2026 the time is one of the year 2.
  const typed = useSignal<string | undefined>(undefined);
  const local = new Date(at - new Date(at).getTimezoneOffset() * 60_000);
  const apply = () => {
    const chosen = new Date(typed.value ?? "").getTime();
    typed.value = undefined;
    if (chosen > 0) onChange(chosen);
  };
  return (
    <input
      type="datetime-local"
      step="1"
      max="9999-12-31T23:59:59"
      aria-label={label}
      value={typed.value ?? local.toISOString().slice(0, 19)}
      onInput={({ currentTarget }) => typed.value = currentTarget.value}
      onBlur={apply}
      onKeyDown={({ key }) => key === "Enter" && apply()}
    />
  );
}
