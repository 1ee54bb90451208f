/** Two jobs side by side: which parameters differ, and the results. */
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { formatBytes, formatCount, formatSeconds } from "../../src/base/text/format.ts";
import { gradientSavings, metricNamesOf } from "../../src/record/job-facts.ts";
import type { JobView } from "../../src/record/job-view.ts";
import type { JobViews } from "../../src/record/stored-record.ts";
import { Card, Nothing, Table } from "../views/card.tsx";
import { Chart } from "../views/chart.tsx";
import { MetricChoice } from "./learning-curves.tsx";
import { route } from "./route.ts";
import { readJob, viewer } from "./session.ts";

const pair = signal<{ readonly key: string; readonly jobs: readonly (JobViews | null)[] }>({ key: "", jobs: [] });
const chosenMetric = signal<string | null>(null);

export function CompareView() {
  const [a, b] = [route.value.parameters.get("a") ?? "", route.value.parameters.get("b") ?? ""];
  const key = `${viewer.value}/${a}/${b}`;
  useEffect(() => {
    if (viewer.value !== "" && pair.peek().key !== key)
      void Promise.all([readJob(viewer.value, a), readJob(viewer.value, b)]).then(
        (found) => (pair.value = { key, jobs: found }),
      );
  }, [key]);
  const [left, right] = pair.value.key === key ? pair.value.jobs : [];
  return (
    <>
      <h1 class="title">
        {a} and {b}
      </h1>
      {left && right ? (
        <div class="grid">
          <Card title="Learning curves" wide>
            <Curves left={left.view} right={right.view} />
          </Card>
          <Card title="Outcome" wide>
            <Table caption="Outcome of both jobs" head={["", a, b]} textColumns={1} rows={outcomes(left, right)} />
          </Card>
          <Card title="Parameters" wide>
            <Parameters left={left.view} right={right.view} />
          </Card>
        </div>
      ) : (
        <Card title="Two jobs">
          <Nothing>
            {pair.value.key === key
              ? "One of the two jobs has no record. Choose two others under Jobs."
              : "Reading both records …"}
          </Nothing>
        </Card>
      )}
    </>
  );
}

function Curves({ left, right }: { readonly left: JobView; readonly right: JobView }) {
  const names = metricNamesOf(left).filter((name) => metricNamesOf(right).includes(name));
  if (names.length === 0) return <Nothing>The two jobs have no metric in common.</Nothing>;
  const name = chosenMetric.value !== null && names.includes(chosenMetric.value) ? chosenMetric.value : names[0];
  const length = Math.max(left.rounds.length, right.rounds.length);
  const values = (view: JobView): (number | null)[] =>
    Array.from({ length }, (_, i) => view.rounds[i]?.train[name] ?? null);
  return (
    <>
      <MetricChoice names={names} name={name} onChoice={(metric) => (chosenMetric.value = metric)} />
      <Chart
        label={`training ${name} of both jobs`}
        x={Array.from({ length }, (_, i) => i + 1)}
        xLabel="tree"
        wholeX
        series={[
          { label: left.job, colour: "--party-active", values: values(left) },
          { label: right.job, colour: "--party-0", values: values(right), dash: "dashed" },
        ]}
      />
    </>
  );
}

function outcomes({ view: left, own: leftOwn }: JobViews, { view: right, own: rightOwn }: JobViews): string[][] {
  const both = (name: string, of: (view: JobView) => string): string[] => [name, of(left), of(right)];
  // Test rows where a job has them; never a training value under the name of a test.
  const rows = [left, right].some(({ result }) => (result?.metrics.test ?? null) !== null) ? "test" : "train";
  const metricNames = [...new Set([left, right].flatMap(({ result }) => Object.keys(result?.metrics[rows] ?? {})))];
  const metric = (name: string) => (view: JobView) => view.result?.metrics[rows]?.[name]?.toFixed(5) ?? "–";
  return [
    both("state", ({ state }) => state),
    ...metricNames.map((name) => both(`${rows === "test" ? "test" : "training"} ${name}`, metric(name))),
    both("trees", ({ treesDone }) => String(treesDone)),
    both("total time", (view) => formatSeconds((view.lastAt - view.startedAt) / 1000)),
    both("seconds per tree", (view) =>
      view.result === null ? "–" : (view.result.phasesMs.training / 1000 / Math.max(1, view.result.trees)).toFixed(3),
    ),
    both("sent", (view) => formatBytes(view.parties.find(({ self }) => self)?.sentBytes ?? 0)),
    both("received", (view) => formatBytes(view.parties.find(({ self }) => self)?.receivedBytes ?? 0)),
    both("gradient ciphertexts", (view) => formatCount(gradientSavings(view)?.ciphertexts ?? 0)),
    both("training rows", ({ data }) => (data === null ? "–" : formatCount(data.trainRows))),
    ["digest of the data", leftOwn.dataDigest?.slice(0, 12) ?? "–", rightOwn.dataDigest?.slice(0, 12) ?? "–"],
  ];
}

/** What differs is shown; the rest can be opened. */
function Parameters({ left, right }: { readonly left: JobView; readonly right: JobView }) {
  const names = [...new Set([...Object.keys(left.parameters), ...Object.keys(right.parameters)])];
  const valueIn = ({ parameters }: JobView, name: string): string => String(parameters[name] ?? "–");
  const rows = names.map((name) => [name, valueIn(left, name), valueIn(right, name)]);
  const differing = rows.filter(([, a, b]) => a !== b);
  const equal = rows.filter(([, a, b]) => a === b);
  return (
    <>
      {differing.length === 0 ? (
        <Nothing>Both jobs had the same parameters.</Nothing>
      ) : (
        <Table
          caption="Parameters that differ"
          head={["parameter", left.job, right.job]}
          rows={differing.map(([name, a, b]) => [name, <mark>{a}</mark>, <mark>{b}</mark>])}
        />
      )}
      <details class="behind">
        <summary>{`${equal.length} parameters are the same`}</summary>
        <Table
          caption="Parameters that are the same"
          head={["parameter", "value"]}
          rows={equal.map(([name, value]) => [name, value])}
        />
      </details>
    </>
  );
}
