/**
 * The report of a search over parameters: one HTML file without scripts. It shows the trials, the
 * importance of each parameter, and its values with their scores.
 */
import { formatCount } from "../../src/base/text/format.ts";
import type { TrialOutcome } from "../../src/gbdt/tune/outcome.ts";
import { Card, CellBar, Figure, Table } from "../views/card.tsx";
import { htmlPage, timeText } from "./html-page.tsx";
import type { tuneReport as declared, TuneReport } from "./reports.js";
import { ValuesChart } from "./values-chart.tsx";

export const tuneReport: typeof declared = (report, madeAt) => {
  const { searched, trials } = report;
  return htmlPage(
    `Tandem: ${report.job}`,
    <>
      <Heading report={report} madeAt={madeAt} />
      <section class="part">
        <h2>Parameter importance</h2>
        <Importance report={report} />
      </section>
      <section class="part">
        <h2>Values and scores</h2>
        <p class="note">
          Each dot is a trial: {report.metric} on held-out rows after the first rung,{" "}
          {report.isHigherBetter ? "higher" : "lower"} is better. The ring is the baseline (the given parameters), the
          diamond the best trial.
        </p>
        <div class="grid">
          {searched.map((name) => (
            <Card key={name} title={name}>
              <ValuesChart trials={trials} name={name} />
            </Card>
          ))}
        </div>
      </section>
      <section class="part">
        <h2>Trials</h2>
        <TrialTable report={report} />
      </section>
    </>,
  );
};

function Importance({ report: { importance, schedule } }: { readonly report: TuneReport }) {
  if (importance === null) return <p class="note">Not shown: with so few trials it would be mostly chance.</p>;
  const most = Math.max(0.01, ...importance.map(({ share }) => share));
  return (
    <>
      <p class="note">
        The share of the variance between trials, after their first {formatCount(schedule[0].rounds)} rounds, that is
        explained by each parameter: by whether its value is in the lower, the middle or the upper third. What chance
        alone would contribute is subtracted.
      </p>
      <Table
        caption="Parameter importance"
        head={["parameter", "", "share"]}
        textColumns={2}
        rows={importance.map(({ parameter, share }) => [
          parameter,
          <CellBar part={share / most} colour="var(--party-active)" />,
          `${Math.round(100 * share)} %`,
        ])}
      />
    </>
  );
}

function Heading({ report, madeAt }: { readonly report: TuneReport; readonly madeAt: Date }) {
  const { job, where, trials, folds, metric, best, instances } = report;
  const [first] = trials;
  const baseline = trials.find(({ trial }) => trial === 0);
  return (
    <header>
      <h1 class="title">{job}</h1>
      <p class="lead">
        A hyper-parameter search by cross-validation, {where}. Written {timeText(madeAt)}.
      </p>
      <div class="figures">
        <Figure
          value={first.score.mean.toFixed(4)}
          label={`${metric} of the best trial, std ${first.score.deviation.toFixed(4)}`}
        />
        {baseline !== undefined && (
          <Figure value={baseline.score.mean.toFixed(4)} label={`${metric} of the baseline`} />
        )}
        <Figure value={formatCount(trials.length)} label={`trials of ${folds} folds`} />
        <Figure value={formatCount(instances)} label="rows" />
      </div>
      {first.trial === 0 && <p class="note">The baseline is the best trial: no other parameters were better.</p>}
      <p class="mono">
        {Object.entries(best)
          .map(([name, value]) => `${name}: ${value}`)
          .join(", ")}
      </p>
    </header>
  );
}

function TrialTable({ report }: { readonly report: TuneReport }) {
  const { searched, trials, metric, schedule } = report;
  const row = ({ trial, parameters, rounds, bestRound, score, rungs }: TrialOutcome, place: number): string[] => [
    String(place + 1),
    trial === 0 ? "baseline" : String(trial),
    score.mean.toFixed(4),
    score.deviation.toFixed(4),
    `${bestRound} of ${rounds}`,
    `${rungs} of ${schedule.length}`,
    ...searched.map((name) => String(parameters[name] ?? "")),
  ];
  return (
    <Table
      caption="Trials"
      head={["", "trial", metric, "std", "round", "rungs", ...searched]}
      rows={trials.map(row)}
      textColumns={2}
    />
  );
}
