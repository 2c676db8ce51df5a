/** What happens by the clock. */

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { events } from "../data/news.ts";
import { type Polled, usePolled } from "../data/polled.ts";
import type { CronJson } from "../data/types.ts";
import { CronHistory } from "../parts/cron_history.tsx";
import { CronRow } from "../parts/cron_row.tsx";
import { Empty, Loading } from "../parts/empty.tsx";

const REFRESH_MS = 5000;

/** The screen. */
export function Cron() {
  const jobs = usePolled<readonly CronJson[]>("/cron", REFRESH_MS);
  useEffect(() => void jobs.reload(), [events.value]);
  return (
    <>
      <h1>
        Cron <span class="faint count">{jobs.data.value?.length || ""}</span>
      </h1>
      {jobs.error.value && <p class="bad" role="alert">{jobs.error}</p>}
      <Jobs jobs={jobs} />
    </>
  );
}

function Jobs({ jobs: { data, reload } }: { readonly jobs: Polled<readonly CronJson[]> }) {
  const opened = useSignal("");
  if (data.value === undefined) return <Loading />;
  if (data.value.length === 0) {
    return (
      <Empty title="Nothing is scheduled">
        <code>procsup start backup.ts --cron '@daily'</code> runs something every day.
      </Empty>
    );
  }
  return (
    <div class="table-frame">
      <table class="stacked cron">
        <caption class="unseen">Schedules</caption>
        <thead>
          <tr>
            <th scope="col" class="name">Name</th>
            <th scope="col">Schedule</th>
            <th scope="col">Next</th>
            <th scope="col">Last</th>
            <th scope="col">Last runs</th>
            <th scope="col">Enabled</th>
            <td />
          </tr>
        </thead>
        {data.value.map((job) => (
          <tbody key={job.name}>
            <CronRow
              job={job}
              reload={reload}
              isOpen={opened.value === job.name}
              onOpen={() => opened.value = opened.value === job.name ? "" : job.name}
            />
            {opened.value === job.name && (
              <tr class="inner">
                <td colSpan={7} id={`runs-${job.name}`}>
                  <CronHistory job={job} />
                </td>
              </tr>
            )}
          </tbody>
        ))}
      </table>
    </div>
  );
}
