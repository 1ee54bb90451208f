/** Past jobs in a list. Two of them can be compared. */
import { signal } from "@preact/signals";
import { formatMetric, formatSeconds } from "../../src/base/text/format.ts";
import { dayMs, renewalDays } from "../../src/record/renewal-days.ts";
import { Card, Nothing, Table } from "../views/card.tsx";
import { href } from "./route.ts";
import { Requests } from "./requests-card.tsx";
import { certificates, jobs, now, queue } from "./session.ts";

const chosen = signal<readonly string[]>([]);

export function JobsView() {
  const lines = jobs.value;
  const metricNames = [...new Set(lines.flatMap(({ metrics }) => Object.keys(metrics)))];
  const picked = chosen.value.filter((job) => lines.some((line) => line.job === job));
  return (
    <>
      <h1 class="title">Jobs</h1>
      <EndingCertificates />
      <Requests />
      <Waiting />
      <Card
        title={`${lines.length} ${lines.length === 1 ? "job" : "jobs"}`}
        wide
        aside={
          picked.length === 2 ? (
            <a class="button" href={href("compare", { a: picked[0], b: picked[1] })}>
              Compare the two
            </a>
          ) : (
            <span class="hint">Tick two jobs to compare them</span>
          )
        }
      >
        {lines.length === 0 ? (
          <Nothing>No job yet. A job appears here when it begins.</Nothing>
        ) : (
          <Table
            caption="Jobs"
            stacks
            head={["job", "compare", "state", "started", "trees", "time", ...metricNames]}
            textColumns={4}
            rows={lines.map((line) => [
              <a href={href("overview", { job: line.job })}>{line.job}</a>,
              <input
                type="checkbox"
                aria-label={`compare ${line.job}`}
                checked={picked.includes(line.job)}
                onChange={() => toggle(line.job)}
              />,
              <span class={`chip state-${line.state}`}>{line.state}</span>,
              shownTime(line.startedAt),
              `${line.treesDone}/${line.treeCount}`,
              formatSeconds(line.seconds),
              ...metricNames.map((name) =>
                name in line.metrics ? `${formatMetric(line.metrics[name])}${line.tested ? "" : "*"}` : "",
              ),
            ])}
          />
        )}
        {lines.some(({ tested }) => !tested) && <p class="note">* on training rows; all others on test rows</p>}
      </Card>
    </>
  );
}

/** Those that are to be renewed: a partner's too, which only the partner can do. */
function EndingCertificates() {
  const ending = certificates.value.filter(({ until }) => until - now.value < renewalDays.soon * dayMs);
  if (ending.length === 0) return null;
  return (
    <Card title={ending.length === 1 ? "A certificate ends soon" : `${ending.length} certificates end soon`} wide>
      <Table
        caption="Certificates that end soon"
        stacks
        head={["party", "certificate", "ends", "days left"]}
        textColumns={3}
        rows={ending.map(({ party, fingerprint, until }) => [
          party,
          `${fingerprint.slice(0, 16)}...`,
          shownTime(until),
          until < now.value ? "expired" : String(Math.floor((until - now.value) / dayMs)),
        ])}
      />
      <p class="note">The party makes a new one with "tandem cert renew" and sends its fingerprint to its partners.</p>
    </Card>
  );
}

/** Of a passive party. */
function Waiting() {
  const waiting = queue.value.filter(({ place }) => place > 0);
  if (waiting.length === 0) return null;
  return (
    <Card title={`${waiting.length} ${waiting.length === 1 ? "job waits" : "jobs wait"} for their turn`} wide>
      <Table
        caption="Waiting jobs"
        stacks
        head={["job", "active party", "since", "place"]}
        textColumns={3}
        rows={waiting.map(({ job, peer, since, place }) => [job, peer, shownTime(since), String(place)])}
      />
    </Card>
  );
}

function shownTime(at: number): string {
  return new Date(at).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
}

/** The third choice takes the place of the first. */
function toggle(job: string): void {
  const { value } = chosen;
  chosen.value = value.includes(job) ? value.filter((other) => other !== job) : [...value, job].slice(-2);
}
