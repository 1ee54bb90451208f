/** How good the model is: its metrics, and how well it separates the people of the test rows. The active party's. */
import { formatMetric } from "../../src/base/text/format.ts";
import type { ScoreCurves } from "../../src/gbdt/evaluation/score-curves.ts";
import { fractionsOf } from "../../src/record/job-facts.ts";
import type { JobView } from "../../src/record/job-view.ts";
import { Behind, Card, Table } from "./card.tsx";
import { Chart } from "./chart.tsx";

type Metrics = Readonly<Record<string, number>>;

interface MetricsPerPart {
  readonly train: Metrics;
  readonly validation?: Metrics | null | undefined;
  readonly test: Metrics | null;
}

/** Of the finished model, and so far of one that is being trained; nothing before the first tree. */
export function MetricsTable({ view }: { readonly view: JobView }) {
  const { result, rounds, parameters } = view;
  const last = rounds[rounds.length - 1];
  const train = result?.metrics.train ?? last?.train;
  if (train === undefined) return null;
  const names = Object.keys(train);
  const validation = result?.metrics.validation ?? last?.validation ?? null;
  const alone = result?.alone;
  const { classes } = parameters;
  return (
    <>
      <Table
        caption="Metrics of the model"
        head={["", ...names]}
        rows={[
          ...metricsRows(names, { train, validation, test: result?.metrics.test ?? null }, ""),
          ...(alone === undefined ? [] : metricsRows(names, alone, ", own columns alone")),
        ]}
      />
      {classes !== undefined && <p class="note">Classes, numbered from 0: {String(classes)}</p>}
      {alone !== undefined && (
        <p class="note">
          Own columns alone: a model trained on this party's columns only, with the same rows, seed and parameters. The
          difference is what the other parties' columns add.
        </p>
      )}
    </>
  );
}

function metricsRows(names: readonly string[], of: MetricsPerPart, suffix: string): string[][] {
  const parts = [
    ["training rows", of.train],
    ["validation rows", of.validation ?? null],
    ["test rows", of.test],
  ] as const;
  return parts.flatMap(([name, metrics]) =>
    metrics === null ? [] : [[name + suffix, ...names.map((metric) => formatMetric(metrics[metric], 5))]],
  );
}

interface ScoreProps {
  readonly scores: ScoreCurves;
  /** Which rows, in words. */
  readonly of: string;
}

/** ROC, KS and the distribution of scores. */
export function ScoreCards({ scores, of }: ScoreProps) {
  return (
    <>
      <RocCard roc={scores.roc} of={of} />
      <KsCard cumulative={scores.cumulative} ksAt={scores.ksAt} of={of} />
      <DistributionCard {...scores.histogram} of={of} />
    </>
  );
}

function RocCard({ roc, of }: Pick<ScoreCurves, "roc"> & Pick<ScoreProps, "of">) {
  return (
    <Card title={`ROC curve, ${of}`}>
      <Chart
        label={`ROC curve on ${of}`}
        x={roc.map(([x]) => x)}
        xRange={[0, 1]}
        yRange={[0, 1]}
        xLabel="false positive rate"
        series={[
          { label: "true positive rate", colour: "--party-active", values: roc.map(([, y]) => y) },
          { label: "no model: at random", colour: "--text-soft", values: roc.map(([x]) => x), dash: "dotted" },
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

function KsCard({ cumulative, ksAt, of }: Pick<ScoreCurves, "cumulative" | "ksAt"> & Pick<ScoreProps, "of">) {
  return (
    <Card
      title={`KS, ${of}`}
      aside={<span class="hint">{`${ksAt.ks.toFixed(4)} at score ${ksAt.score.toPrecision(3)}`}</span>}
    >
      <Chart
        label="Cumulative fraction of people by score, per label"
        x={cumulative.map(([score]) => score)}
        xLabel="score"
        yRange={[0, 1]}
        marks={[{ at: ksAt.score, text: `KS: ${ksAt.ks.toFixed(4)} apart` }]}
        series={[
          {
            label: "part of label 0 below this score",
            colour: "--party-active",
            values: cumulative.map(([, negatives]) => negatives),
          },
          {
            label: "part of label 1 below this score",
            colour: "--party-0",
            values: cumulative.map(([, , positives]) => positives),
            dash: "dashed",
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

/** Fractions within each label: counts of the rarer one would be invisible next to the other's. */
function DistributionCard({ min, max, negatives, positives, of }: ScoreCurves["histogram"] & Pick<ScoreProps, "of">) {
  const width = (max - min) / negatives.length;
  const x = negatives.map((_, i) => min + i * width);
  return (
    <Card title={`Distribution of scores, ${of}`}>
      <Chart
        label="Fraction of each label's people per score"
        x={x}
        xLabel="score"
        xRange={[min, max]}
        barWidth={width}
        series={[
          { label: "part of all label 0", colour: "--party-active", values: fractionsOf(negatives) },
          { label: "part of all label 1", colour: "--party-0", values: fractionsOf(positives) },
        ]}
      />
      <Behind
        table={() => (
          <Table
            caption="Distribution of scores"
            head={["score from", "label 0, people", "label 1, people"]}
            rows={x.map((from, i) => [from.toPrecision(3), String(negatives[i]), String(positives[i])])}
          />
        )}
      />
    </Card>
  );
}
