/** A report's exposure: what the others could compute of this party's columns or labels, and have had so far. */
import { finite, formatPerPerson } from "../base/text/format.ts";
import { type Html, html } from "../base/text/html.ts";
import { privacyLine, settingHead, settingRows, whatIfTable, whatIfTitle } from "../record/defence-facts.ts";
import type { Exposure } from "../record/exposure.ts";
import {
  aucRange,
  auditCommand,
  columnHead,
  columnRows,
  columnSentences,
  hiddenLabelSentence,
  type LabelExposure,
  labelSentences,
  ownExposures,
  staysHidden,
} from "../record/exposure-facts.ts";
import type { JobView } from "../record/job-view.ts";
import type { OwnJobView } from "../record/own-view.ts";
import { alarmSentences, dailySpending, otherSpending, sumsSentence, sumsSpent } from "../record/spending-facts.ts";
import { exposureBars, exposurePatterns, gaugePicture } from "./exposure-pictures.ts";
import { htmlTable } from "./html-table.ts";
import { labelChart } from "./job-charts.ts";

export function exposurePart(view: JobView, own: OwnJobView): Html {
  const exposures = ownExposures(view, own);
  const tried = exposures.filter(({ whatIf }) => whatIf.length > 0);
  return html`<h2>Exposure</h2>
    <p>${privacyLine(view)}</p>
    ${alarmSentences(view).map((words) => html`<p class="warning" role="alert">${words}</p>`)} ${exposurePatterns}
    ${exposures.length === 0 ? noAudit : exposures.map(findings)} ${gauge(view, exposures)}
    <h3>What lowers it</h3>
    ${htmlTable(settingHead, settingRows(view), 3)} ${tried.map((exposure) => whatIfPart(exposure, tried.length > 1))}`;
}

function whatIfPart({ learner, whatIf }: Exposure, others: boolean): Html {
  const { head, rows } = whatIfTable(whatIf);
  return html`<h3>${whatIfTitle(learner, others)}</h3>
    ${htmlTable(head, rows)}`;
}

const noAudit = html`<p>No audit of this job yet. Run <span class="mono">${auditCommand}</span>.</p>`;

function findings(exposure: Exposure): Html {
  const { columns, labels, learner, hidesMembers } = exposure;
  const isHidden = hidesMembers === true && columns.length === 0 && labels === null;
  return html`${columns.length === 0 ? "" : columnFindings(exposure)}
  ${labels === null ? "" : labelFindings(learner, labels)}
  ${isHidden ? html`<p>${hiddenLabelSentence(learner)}</p>` : ""}`;
}

function columnFindings(exposure: Exposure): Html {
  return html`<h3>What ${exposure.learner} could compute of your columns</h3>
    <p>${columnSentences(exposure).join(" ")} ${staysHidden}</p>
    <figure>${exposureBars(exposure)}</figure>
    ${htmlTable(columnHead, columnRows(exposure))}`;
}

function labelFindings(learner: string, labels: LabelExposure): Html {
  return html`<h3>What ${learner} could guess of your labels</h3>
    <p>${labelSentences(learner, labels).join(" ")}</p>
    ${labels.byTree.length === 0 ? "" : html`<figure class="one">${labelCurve(labels)}</figure>`}`;
}

function labelCurve(labels: LabelExposure): Html {
  const guesses = labels.byTree.map(({ tree, auc }) => [tree, finite(auc)] as const);
  return labelChart(guesses, finite(labels.modelAuc), aucRange(labels));
}

function gauge(view: JobView, exposures: readonly Exposure[]): Html {
  const spent = sumsSpent(view, exposures);
  if (spent === null) return html``;
  const { title, sumsPerPerson } = spent;
  return html`<h3>${title}: ${formatPerPerson(sumsPerPerson)}</h3>
    <p>${sumsSentence(sumsPerPerson)} Half of a table is gone at 0.05, all of it at 0.1.</p>
    <figure>${gaugePicture(spent)}</figure>
    <div class="figures">
      ${[...otherSpending(view), ...dailySpending(view)].map(
        ({ value, label }) => html`<div><strong>${value}</strong><span>${label}</span></div>`,
      )}
    </div>`;
}
