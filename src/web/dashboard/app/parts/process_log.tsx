/** The log of one process, on its page: what is searched for is not part of the address here. */

import { useSignal } from "@preact/signals";
import { type LogQuery, NO_QUERY } from "../data/log_query.ts";
import { LogView } from "./log_view.tsx";

/** The viewer. */
export function ProcessLog({ name }: { name: string }) {
  const query = useSignal<LogQuery>({ ...NO_QUERY, targets: [name] });
  return (
    <LogView
      key={query.value.at > 0 ? query.value.mark : "live"}
      single
      query={query.value}
      onQuery={(changed) => query.value = changed}
    />
  );
}
