/**
 * The report of a search over parameters: one HTML file without scripts. It shows the trials, what mattered, and each
 * parameter's values beside what they came to.
 */
import { formatCount } from "../base/text/format.ts";
import { type Html, html, rendered } from "../base/text/html.ts";
import type { TrialOutcome, TuneOutcome } from "../gbdt/tune/outcome.ts";
import { htmlTable } from "./html-table.ts";
import { reportStyle } from "./job-report-style.ts";
import { mattersChart, valuesChart } from "./tune-charts.ts";

export interface TuneReport extends TuneOutcome {
  readonly job: string;
  readonly instances: number;
  /** Between whom, in words. */
  readonly where: string;
}

export function tuneReport(report: TuneReport, madeAt: Date): string {
  const { searched, trials, matters } = report;
  const parts = [
    heading(report, madeAt),
    html`<h2>What mattered</h2>
      <p class="soft">
        The share of what the trials differ by after their first ${formatCount(report.schedule[0].rounds)} rounds that
        goes with each parameter: whether its value is in the lower, the middle or the upper third. What chance alone
        would put there is taken off.
      </p>
      <figure class="one">${mattersChart(matters)}</figure>`,
    html`<h2>Values and scores</h2>
      <p class="soft">
        Each dot is a trial: ${report.metric} on held-out rows after the first rung,
        ${report.isHigherBetter ? "higher" : "lower"} is better. The ring is what was given, the diamond the best trial.
      </p>
      <div class="charts">
        ${searched.map(
          (name) =>
            html`<figure>
              <figcaption>${name}</figcaption>
              ${valuesChart(trials, name)}
            </figure> `,
        )}
      </div>`,
    html`<h2>Trials</h2>
      ${trialTable(report)}`,
  ];
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<title>${rendered(`Tandem: ${report.job}`)}</title><style>${reportStyle}</style></head>
<body><main>${rendered(parts)}</main></body></html>
`;
}

function heading({ job, where, trials, folds, metric, best, instances }: TuneReport, madeAt: Date): Html {
  const [first] = trials;
  const given = trials.find(({ trial }) => trial === 0);
  const figures: (readonly [string, string])[] = [
    [first.score.mean.toFixed(4), `${metric} of the best trial, deviation ${first.score.deviation.toFixed(4)}`],
    ...(given === undefined ? [] : [[given.score.mean.toFixed(4), `${metric} of what was given`] as const]),
    [formatCount(trials.length), `trials of ${folds} folds`],
    [formatCount(instances), "rows"],
  ];
  return html`<header>
    <h1>${job}</h1>
    <p class="soft">
      A search over parameters by cross-validation, ${where}. Made
      ${madeAt.toISOString().slice(0, 19).replace("T", " ")} UTC.
    </p>
    <div class="figures">
      ${figures.map(([value, label]) => html`<div><strong>${value}</strong><span>${label}</span></div> `)}
    </div>
    <p class="mono">
      ${Object.entries(best)
        .map(([name, value]) => `${name}: ${value}`)
        .join(", ")}
    </p>
  </header>`;
}

function trialTable({ searched, trials, metric, schedule }: TuneReport): Html {
  const row = ({ trial, parameters, rounds, bestRound, score, rungs }: TrialOutcome, place: number): string[] => [
    String(place + 1),
    trial === 0 ? "as given" : String(trial),
    score.mean.toFixed(4),
    score.deviation.toFixed(4),
    `${bestRound} of ${rounds}`,
    `${rungs} of ${schedule.length}`,
    ...searched.map((name) => String(parameters[name] ?? "")),
  ];
  return htmlTable(["", "trial", metric, "deviation", "round", "rungs", ...searched], trials.map(row), 2);
}
