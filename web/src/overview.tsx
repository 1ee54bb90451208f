/**
 * Where the job stands, at a glance: the parties, the tree that grows, where its time goes, how well the model learns.
 */
import { useMemo } from "preact/hooks";
import { formatBytes, formatCount, formatSeconds } from "../../src/base/text/format.ts";
import {
  bottleneck,
  elapsedSeconds,
  gradientSavings,
  modelTrees,
  phaseWords,
  resumedWords,
  secondsLeft,
  rowsName,
  treesKept,
} from "../../src/record/job-facts.ts";
import { importance } from "../../src/record/own-view.ts";
import { isUnderWay, type JobView } from "../../src/record/job-view.ts";
import { Card, Figure, Nothing } from "../views/card.tsx";
import { ImportanceTable } from "../views/importance.tsx";
import { Parties } from "../views/party-picture.tsx";
import { Timeline } from "../views/timeline.tsx";
import { Workers } from "../views/workers.tsx";
import { LearningCurves } from "./learning-curves.tsx";
import { jobViews, now, openJob } from "./session.ts";

export function Overview() {
  const { view } = jobViews.value;
  if (view.startedAt === 0) return <Waiting />;
  return (
    <>
      <Status view={view} />
      <div class="grid">
        <PartiesCard view={view} />
        {view.role === "active" ? <Learning view={view} /> : <OwnSplits />}
        <Time view={view} />
        <WorkersCard view={view} />
      </div>
    </>
  );
}

interface ViewProps {
  readonly view: JobView;
}

// A card is drawn again only when what it shows has changed: drawing takes CPU time from the job that the page shows.

function PartiesCard({ view }: ViewProps) {
  const shown = view.parties
    .map(({ name, connected, doing, sentBytes, receivedBytes }) =>
      [name, connected, doing, formatBytes(sentBytes), formatBytes(receivedBytes)].join(),
    )
    .join(";");
  return useMemo(
    () => (
      <Card title="Parties">
        <Parties view={view} />
      </Card>
    ),
    [view.job, view.state, shown],
  );
}

function Learning({ view }: ViewProps) {
  return useMemo(
    () => (
      <Card title="Learning curve">
        <LearningCurves view={view} />
      </Card>
    ),
    [view.job, view.state, view.rounds.length, view.rounds[view.rounds.length - 1]?.at],
  );
}

function OwnSplits() {
  const { view, own } = jobViews.value;
  const rows = useMemo(() => importance(modelTrees(view, own), view.party), [view.job, view.state, own.trees.size]);
  return useMemo(
    () => (
      <Card title="Our splits">
        {rows.length === 0 ? (
          <Nothing>No split is ours yet. Features appear here when one of their splits wins.</Nothing>
        ) : (
          <ImportanceTable view={view} rows={rows} by="feature" />
        )}
      </Card>
    ),
    [rows],
  );
}

function Time({ view }: ViewProps) {
  const spans = view.spans.current.length > 0 ? view.spans.current : view.spans.previous;
  const growing =
    view.state === "training" && spans === view.spans.current && spans.length > 0 && spans[0].tree >= view.treesDone;
  // Of a tree that grows, it is too early to say.
  const measured = growing && view.spans.previous.length > 0 ? view.spans.previous : spans;
  const slow = bottleneck(measured);
  const title = `Where the time goes${spans.length > 0 ? `: tree ${spans[0].tree + 1}` : ""}`;
  const percent = Math.round((slow?.fraction ?? 0) * 100);
  const hint =
    slow === null
      ? null
      : `Longest in tree ${measured[0].tree + 1}: ${slow.party} ${phaseWords[slow.phase]}, ${percent}%`;
  return useMemo(
    () => (
      <Card title={title} wide aside={hint === null ? null : <span class="hint">{hint}</span>}>
        <Timeline view={view} spans={spans} before={growing ? view.spans.previous : []} />
      </Card>
    ),
    [view.job, view.state, title, hint, growing, spans.length],
  );
}

/** Nothing where the party has no workers. */
function WorkersCard({ view }: ViewProps) {
  const { crew } = view;
  const redone = view.roundsSoFar.redone;
  return useMemo(
    () => (crew === null ? null : <Workers view={view} crew={crew} />),
    [view.job, view.state, crew, redone],
  );
}

function Waiting() {
  return (
    <>
      <h1 class="title">{openJob.value ?? "No job yet"}</h1>
      <Card title="Waiting">
        <Nothing>
          {openJob.value === null
            ? "This party waits for a job. The page shows it as soon as it begins."
            : "Reading this job's record …"}
        </Nothing>
      </Card>
    </>
  );
}

function levelText({ level, depthMax }: JobView): string {
  return depthMax === 0 ? String(level + 1) : `${Math.min(level + 1, depthMax)} of ${depthMax}`;
}

function Status({ view }: { readonly view: JobView }) {
  const left = secondsLeft(view, now.value);
  const { alignment } = view;
  const aligning = view.state === "aligning" && alignment.total > 0;
  // A job that stopped early is as finished as others.
  const [done, total] = aligning
    ? [alignment.done, alignment.total]
    : view.state === "finished"
      ? [1, 1]
      : [view.treesDone, view.treeCount];
  const self = view.parties.find((party) => party.self);
  const savings = gradientSavings(view);
  const growing = view.state === "training" && view.treesDone < view.treeCount;
  return (
    <section class="status" aria-label="Progress">
      <div class="status-head">
        <h1 class="title">{view.job}</h1>
        <span class={`chip state-${view.state}`}>{view.state}</span>
        {view.waiting !== null && isUnderWay(view.state) && <span class="chip">{view.waiting}</span>}
        {view.resumed > 0 && <span class="chip">{resumedWords(view)}</span>}
      </div>
      <progress max={Math.max(1, total)} value={done} aria-label={aligning ? "ids aligned" : "trees finished"} />
      <div class="figures">
        <Figure
          value={growing ? `${view.treesDone + 1} / ${view.treeCount}` : `${view.treesDone} / ${view.treeCount}`}
          label={
            growing
              ? `tree, level ${levelText(view)}`
              : treesKept(view) === null
                ? "trees"
                : `trees, the best ${treesKept(view)} kept`
          }
        />
        <Figure value={formatSeconds(elapsedSeconds(view, now.value))} label="elapsed" />
        {left !== null && <Figure value={formatSeconds(left)} label="left" />}
        <Figure value={view.data === null ? "–" : formatCount(view.data.trainRows)} label={rowsName(view)} />
        {self !== undefined && <Figure value={formatBytes(self.sentBytes)} label="sent" />}
        {self !== undefined && <Figure value={formatBytes(self.receivedBytes)} label="received" />}
        {savings !== null && savings.savedBytes > 0 && (
          <Figure value={formatBytes(savings.savedBytes)} label="saved by batching" />
        )}
      </div>
    </section>
  );
}
