/** How good the model is, for a risk committee: a summary of one page, and every figure of docs/evaluation.md. */
import type { FiguresOf, ModelEvaluation } from "../../src/record/evaluation/evaluation.ts";
import {
  calibrationErrorOf,
  evaluationSentences,
  figureText,
  partWords,
  percentText,
  shownPart,
  stabilityRows,
  statisticWords,
} from "../../src/record/evaluation/facts.ts";
import { confusionAt, ratesOf } from "../../src/gbdt/evaluation/cut-offs.ts";
import { gainTable, wilsonInterval } from "../../src/gbdt/evaluation/rates.ts";
import { cellText, type EvaluationTable } from "../../src/record/evaluation/table.ts";
import { evaluationTables } from "../../src/record/evaluation/tables.ts";
import { type EvaluationTerms, usualTerms } from "../../src/record/evaluation/terms.ts";
import { Behind, Card, Figure, type FigureProps, Table } from "./card.tsx";
import { Chart } from "./chart.tsx";

interface EvaluationProps {
  readonly evaluation: ModelEvaluation;
  readonly terms?: EvaluationTerms;
}

/** The table that stands behind the chart of the same figures. */
const charted = "precision-recall";
/** Columns of the table of decisions that a summary has room for. */
const summaryColumns = ["rule", "cut-off", "flagged", "precision", "recall", "cost per row"];

/** @param others the other parties, in words */
export function EvaluationSummary({ evaluation, terms = usualTerms, others }: EvaluationProps & { others: string }) {
  const decisions = evaluationTables(evaluation, terms).find(({ name }) => name === "decisions");
  return (
    <>
      <div class="figures">
        {summaryFigures(evaluation).map((figure) => (
          <Figure key={figure.label} {...figure} />
        ))}
      </div>
      <ul class="findings">
        {evaluationSentences(evaluation, others).map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
      <div class="grid">
        <MainCharts evaluation={evaluation} />
      </div>
      {decisions !== undefined && (
        <>
          <h3>Where to cut the score</h3>
          <p class="note">
            Flagged: a score from the cut-off on. Precision: the part of the flagged rows that has label 1. Recall: the
            part of all label 1 that is flagged. Cost: of wrong decisions.
          </p>
          <FigureTable table={onlyColumns(decisions, summaryColumns)} stacks />
        </>
      )}
    </>
  );
}

function summaryFigures(evaluation: ModelEvaluation): FigureProps[] {
  const shown = shownPart(evaluation);
  const { federation } = evaluation;
  const error = calibrationErrorOf(evaluation);
  const stability = stabilityRows(evaluation).at(-1);
  return [
    ...shown.estimates.slice(0, 2).map((of) => ({
      value: figureText(of.value),
      label: `${statisticWords(of.name).title}, ${partWords[shown.part]}${intervalWords(of)}`,
    })),
    ...(federation === null || federation.gain.value === null
      ? []
      : [
          {
            value: signed(federation.gain.value),
            label:
              `value of the federation: gain of ${statisticWords(federation.gain.name).title}` +
              intervalWords(federation.gain),
          },
        ]),
    ...(error === null
      ? []
      : [
          {
            value: percentText(error.value),
            label: `expected calibration error; by chance alone about ${percentText(error.byChance)}`,
          },
        ]),
    ...(stability === undefined
      ? []
      : [{ value: figureText(stability.index), label: `stability index: ${stability.words}` }]),
  ];
}

function intervalWords({ low, high }: { readonly low: number | null; readonly high: number | null }): string {
  return low === null || high === null ? "" : `; 95% interval ${figureText(low)} to ${figureText(high)}`;
}

function signed(value: number): string {
  return value > 0 ? `+${figureText(value)}` : figureText(value);
}

/** The pictures of the summary. */
export function MainCharts({ evaluation: { figures, shown } }: EvaluationProps) {
  if (figures.kind === "binary")
    return (
      <>
        <GainChart figures={figures} rows={partWords[shown]} />
        {figures.calibration !== null && <CalibrationChart tenths={figures.calibration} rows={partWords[shown]} />}
      </>
    );
  if (figures.kind === "number") return <ActualChart figures={figures} rows={partWords[shown]} />;
  if (figures.kind === "survival") return <HorizonCharts figures={figures} rows={partWords[shown]} />;
  return null;
}

/** Everything that the summary leaves out. */
export function EvaluationCards({ evaluation, terms = usualTerms }: EvaluationProps) {
  const tables = evaluationTables(evaluation, terms);
  const { figures, shown } = evaluation;
  const { resamples, unitsMax } = evaluation.bootstrap;
  return (
    <>
      {figures.kind === "binary" && (
        <PrecisionRecallChart
          figures={figures}
          rows={partWords[shown]}
          table={tables.find(({ name }) => name === charted)}
        />
      )}
      {tables
        .filter(({ name }) => name !== charted)
        .map((table) => (
          <Card key={table.name} title={`${table.title}, ${partWords[shown]}`} wide>
            <p class="note">
              {table.about}
              {table.name === "summary" && ` ${resamples} resamples, of at most ${unitsMax.toLocaleString("en")} rows.`}
            </p>
            <FigureTable table={table} />
          </Card>
        ))}
    </>
  );
}

interface FigureTableProps {
  readonly table: EvaluationTable;
  readonly stacks?: boolean;
}

function FigureTable({ table: { title, columns, rows }, stacks = false }: FigureTableProps) {
  const texts = columns.findIndex((_, i) => rows.some((row) => typeof row[i] === "number"));
  return (
    <Table
      caption={title}
      stacks={stacks}
      head={columns.map(({ name }) => name)}
      rows={rows.map((row) => row.map((cell, i) => cellText(cell, columns[i])))}
      textColumns={texts < 0 ? columns.length : texts}
    />
  );
}

function onlyColumns(table: EvaluationTable, names: readonly string[]): EvaluationTable {
  const kept = table.columns.flatMap(({ name }, i) => (names.includes(name) ? [i] : []));
  return {
    ...table,
    columns: kept.map((i) => table.columns[i]),
    rows: table.rows.map((row) => kept.map((i) => row[i])),
  };
}

interface FiguresProps<K extends "binary" | "number" | "survival"> {
  readonly figures: FiguresOf<K>;
  /** Which rows, in words. */
  readonly rows: string;
}

function GainChart({ figures, rows }: FiguresProps<"binary">) {
  const total = figures.positives + figures.negatives;
  const deep = [0, ...figures.cutOffs.map(([, tp, fp]) => (tp + fp) / total)];
  return (
    <Card title={`Gain, ${rows}`}>
      <Chart
        label="Part of label 1 found among the rows with the highest scores"
        x={deep}
        xRange={[0, 1]}
        yRange={[0, 1]}
        xLabel="part of the rows, the highest scores first"
        series={[
          {
            label: "part of label 1 found",
            colour: "--party-active",
            values: [0, ...figures.cutOffs.map(([, tp]) => tp / figures.positives)],
          },
          { label: "no model: at random", colour: "--text-soft", values: deep, dash: "dotted" },
        ]}
        marks={gainTable(figures.tenths)
          .slice(0, 1)
          .map(({ depth, gain }) => ({
            at: depth,
            text: `${percentText(gain)} of label 1 in the top ${percentText(depth)}`,
          }))}
      />
    </Card>
  );
}

interface CalibrationProps {
  readonly tenths: NonNullable<FiguresOf<"binary">["calibration"]>;
  readonly rows: string;
}

function CalibrationChart({ tenths, rows }: CalibrationProps) {
  const predicted = tenths.map((tenth) => tenth.predicted);
  const intervals = tenths.map(({ observed, rows: of }) => wilsonInterval(observed, of));
  return (
    <Card title={`Calibration, ${rows}`}>
      <Chart
        label="Observed rate of label 1 by predicted probability"
        x={predicted}
        xLabel="predicted probability of label 1, mean of a tenth of the rows"
        series={[
          {
            label: "observed rate of label 1",
            colour: "--party-active",
            values: tenths.map(({ observed }) => observed),
          },
          { label: "perfect: observed as predicted", colour: "--text-soft", values: predicted, dash: "dotted" },
        ]}
        band={{
          label: "95% interval of the observed rate",
          colour: "--party-active",
          low: intervals.map(({ low }) => low),
          high: intervals.map(({ high }) => high),
        }}
      />
    </Card>
  );
}

function PrecisionRecallChart({
  figures,
  rows,
  table,
}: FiguresProps<"binary"> & { readonly table: EvaluationTable | undefined }) {
  const points = figures.cutOffs.map((cut) => ratesOf(confusionAt(cut, figures)));
  const rate = figures.positives / (figures.positives + figures.negatives);
  return (
    <Card title={`Precision and recall, ${rows}`}>
      <Chart
        label="Precision by recall"
        x={points.map(({ recall }) => recall)}
        xRange={[0, 1]}
        yRange={[0, 1]}
        xLabel="recall"
        series={[
          { label: "precision", colour: "--party-active", values: points.map(({ precision }) => precision) },
          { label: "rate of all rows", colour: "--text-soft", values: points.map(() => rate), dash: "dotted" },
        ]}
      />
      {table !== undefined && <Behind table={() => <FigureTable table={table} />} />}
    </Card>
  );
}

function ActualChart({ figures, rows }: FiguresProps<"number">) {
  const predicted = figures.tenths.map((tenth) => tenth.predicted);
  return (
    <Card title={`Predicted and observed, ${rows}`}>
      <Chart
        label="Observed mean by predicted mean, per tenth of the rows"
        x={predicted}
        xLabel="predicted, mean of a tenth of the rows"
        series={[
          { label: "observed mean", colour: "--party-active", values: figures.tenths.map(({ observed }) => observed) },
          { label: "perfect", colour: "--text-soft", values: predicted, dash: "dotted" },
        ]}
      />
    </Card>
  );
}

function HorizonCharts({ figures, rows }: FiguresProps<"survival">) {
  return (
    <>
      {figures.horizons.map(({ time, groups }) => {
        const predicted = groups.map((group) => group.predicted);
        return (
          <Card key={time} title={`Events up to ${figureText(time)}, ${rows}`}>
            <Chart
              label={`Observed part with an event up to ${figureText(time)}, by predicted probability`}
              x={predicted}
              xLabel="predicted, mean of a fifth of the rows"
              series={[
                { label: "observed", colour: "--party-active", values: groups.map(({ observed }) => observed) },
                { label: "perfect", colour: "--text-soft", values: predicted, dash: "dotted" },
              ]}
            />
          </Card>
        );
      })}
    </>
  );
}
