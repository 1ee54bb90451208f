/** A report's last parts: what was revealed to whom, and what the job ran with. */
import { formatCount } from "../base/text/format.ts";
import { type Html, html } from "../base/text/html.ts";
import type { OwnJobView } from "../record/own-view.ts";
import { ledgerLines, notSent, resumedWords } from "../record/job-facts.ts";
import type { JobView } from "../record/job-view.ts";
import { assumption } from "../record/spending-facts.ts";
import { htmlTable } from "./html-table.ts";

export function disclosurePart(view: JobView): Html {
  const rows = ledgerLines(view).map((line) => [
    line.learner,
    line.about,
    line.what,
    `${formatCount(Math.round(line.count))} ${line.unit}`,
  ]);
  const { commonCount } = view.alignment;
  return html`<h2>What was revealed to whom</h2>
    <p>This list is counted where it happens, in the words of docs/leakage.md. ${notSent}</p>
    <p>${assumption(view)}</p>
    ${
      rows.length === 0
        ? html`<p>Nothing was revealed: the job never got that far.</p>`
        : htmlTable(["who learnt it", "about", "what", "how many"], rows, 3)
    }
    ${commonCount === null ? "" : alignmentWords(commonCount)}`;
}

function alignmentWords(commonCount: number): Html {
  return html`<p>The ids were aligned first. ${formatCount(commonCount)} people are common to all parties.</p>`;
}

export function recordPart(view: JobView, { dataDigest }: OwnJobView): Html {
  const { parameters, data } = view;
  const pair = ([name, value]: readonly [string, unknown]): Html =>
    html`<div>
      <dt>${name}</dt>
      <dd>${String(value) || "–"}</dd>
    </div>`;
  return html`<h2>Parameters, versions and data</h2>
    <dl>${Object.entries(parameters).map(pair)}</dl>
    <h3>Versions</h3>
    <p class="mono">${versionWords(view)}</p>
    <h3>Data</h3>
    ${
      data === null
        ? html`<p>–</p>`
        : html`<p>
              ${formatCount(data.trainRows)} training rows with ${formatCount(data.featureCount)} own features;
              ${formatCount(data.testRows)} test rows. SHA-256 of the training rows:
            </p>
            <p class="mono">${dataDigest ?? "–"}</p>`
    }
    ${view.resumed === 0 ? "" : html`<p>The job was stopped and ${resumedWords(view)}.</p>`}`;
}

function versionWords({ versions, kernel }: JobView): string {
  if (versions === null) return "–";
  const { tandem, protocol, node } = versions;
  return `tandem ${tandem}, protocol ${protocol}, Node ${node}${kernel === null ? "" : `, ${kernel} kernel`}`;
}
