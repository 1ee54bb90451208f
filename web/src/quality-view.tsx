/** How well the finished model separates the people of the test rows. Only the active party sees this. */
import type { ScoreCurves } from "../../src/gbdt/metric/score-curves.ts";
import { formatMetric } from "../../src/base/text/format.ts";
import { fractionsOf } from "../../src/record/job-facts.ts";
import { Behind, Card, Figure, Nothing, Table } from "./card.tsx";
import { Chart } from "./chart.tsx";
import { LearningCurves } from "./learning-curves.tsx";
import { jobViews } from "./session.ts";

export function QualityView() {
  const { view, own } = jobViews.value;
  const { scores } = own;
  const test = view.result?.metrics.test ?? null;
  return (
    <>
      <h1 class="title">Quality</h1>
      {test !== null && (
        <section class="status" aria-label="Metrics on test rows">
          <div class="figures">
            {Object.entries(test).map(([name, value]) => (
              <Figure key={name} value={formatMetric(value)} label={`test ${name}`} />
            ))}
            {view.data !== null && <Figure value={view.data.testRows.toLocaleString("en")} label="test rows" />}
          </div>
        </section>
      )}
      <div class="grid">
        <Card title="Learning curve">
          <LearningCurves view={view} />
        </Card>
        {scores === null ? (
          <Card title="Scores">
            <Nothing>
              {view.role === "passive"
                ? "Only the active party sees scores."
                : "ROC, KS and the distribution of scores appear here after the last tree, if the job has test rows."}
            </Nothing>
          </Card>
        ) : (
          <>
            <RocCard roc={scores.roc} />
            <KsCard cumulative={scores.cumulative} ksAt={scores.ksAt} />
            <Card title="Distribution of scores">
              <Distribution {...scores.histogram} />
            </Card>
          </>
        )}
      </div>
    </>
  );
}

function RocCard({ roc }: Pick<ScoreCurves, "roc">) {
  return (
    <Card title="ROC curve">
      <Chart
        label="ROC curve on test rows"
        x={roc.map(([x]) => x)}
        xRange={[0, 1]}
        yRange={[0, 1]}
        xLabel="false positive rate"
        series={[
          { label: "true positive rate", colour: "--party-active", values: roc.map(([, y]) => y) },
          { label: "guessing", colour: "--text-soft", values: roc.map(([x]) => x), dash: [4, 4] },
        ]}
      />
      <Behind
        table={() => (
          <Table
            caption="ROC curve"
            head={["false positive rate", "true positive rate"]}
            rows={roc.map(([x, y]) => [x.toFixed(3), y.toFixed(3)])}
          />
        )}
      />
    </Card>
  );
}

function KsCard({ cumulative, ksAt }: Pick<ScoreCurves, "cumulative" | "ksAt">) {
  return (
    <Card title="KS" aside={<span class="hint">{`${ksAt.ks.toFixed(4)} at score ${ksAt.score.toPrecision(3)}`}</span>}>
      <Chart
        label="Cumulative fraction of people by score, per class"
        x={cumulative.map(([score]) => score)}
        xLabel="score"
        yRange={[0, 1]}
        marks={[{ at: ksAt.score, text: `KS ${ksAt.ks.toFixed(3)}` }]}
        series={[
          {
            label: "label 0, at or below the score",
            colour: "--party-active",
            values: cumulative.map(([, negatives]) => negatives),
          },
          {
            label: "label 1, at or below the score",
            colour: "--party-0",
            values: cumulative.map(([, , positives]) => positives),
            dash: [6, 3],
          },
        ]}
      />
      <Behind
        table={() => (
          <Table
            caption="Cumulative fractions"
            head={["score", "label 0", "label 1"]}
            rows={cumulative.map(([score, n, p]) => [score.toPrecision(3), n.toFixed(3), p.toFixed(3)])}
          />
        )}
      />
    </Card>
  );
}

function Distribution({ min, max, negatives, positives }: ScoreCurves["histogram"]) {
  const width = (max - min) / negatives.length;
  const x = negatives.map((_, i) => min + i * width);
  return (
    <>
      <Chart
        label="Fraction of each label's people per score"
        x={x}
        xLabel="score"
        xRange={[min, max]}
        series={[
          {
            label: "label 0, fraction of its people",
            colour: "--party-active",
            values: fractionsOf(negatives),
            bars: true,
          },
          { label: "label 1, fraction of its people", colour: "--party-0", values: fractionsOf(positives), bars: true },
        ]}
      />
      <Behind
        table={() => (
          <Table
            caption="Distribution of scores"
            head={["score from", "label 0", "label 1"]}
            rows={x.map((from, i) => [from.toPrecision(3), String(negatives[i]), String(positives[i])])}
          />
        )}
      />
    </>
  );
}
