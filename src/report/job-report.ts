/**
 * The report of a job: one HTML file without scripts and without a request to anywhere, for whoever must be convinced
 * afterwards. It shows what the page shows, from the same views, and says what was proven and what was revealed.
 */
import { formatCount, formatSeconds } from "../base/text/format.ts";
import { type Html, html, rendered } from "../base/text/html.ts";
import { modelTrees, treesKept } from "../record/job-facts.ts";
import type { JobViews } from "../record/stored-record.ts";
import type { JobView } from "../record/job-view.ts";
import { disclosurePart, recordPart } from "./disclosure-part.ts";
import { encodingPart } from "./encoding-part.ts";
import { exposurePart } from "./exposure-part.ts";
import { modelPart } from "./model-part.ts";
import { partiesPart, timePart } from "./parties-part.ts";
import { metricsPart, qualityPart } from "./quality-part.ts";
import { redonePart, workersPart } from "./workers-part.ts";
import { reportStyle } from "./job-report-style.ts";

/** @param options.withOwn false leaves out what only the party itself may see: splits, scores' curves, exposure */
export function jobReport(
  { view, own }: JobViews,
  madeAt: Date,
  { withOwn = true }: { readonly withOwn?: boolean } = {},
): string {
  const parts = [
    heading(view, madeAt, withOwn),
    metricsPart(view),
    partiesPart(view),
    qualityPart(view, withOwn ? own.scores : null),
    timePart(view),
    redonePart(view),
    workersPart(view),
    encodingPart(view),
    ...(withOwn ? [modelPart(view, modelTrees(view, own))] : []),
    disclosurePart(view),
    ...(withOwn ? [exposurePart(view, own)] : []),
    recordPart(view, own),
  ];
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<title>${rendered(`Tandem: ${view.job}, ${view.party}`)}</title><style>${reportStyle}</style></head>
<body><main>${rendered(parts)}</main></body></html>
`;
}

function heading(view: JobView, madeAt: Date, withOwn: boolean): Html {
  const isGood = view.state === "finished";
  const failure = view.failure === null ? "" : ` ${view.failure.message} (${view.failure.code})`;
  const own = withOwn
    ? `This report shows ${view.party}'s own splits, with their thresholds and categories, and its exposure. ` +
      "'tandem report --public' leaves them out."
    : `Splits, scores and the exposure that only ${view.party} may see are left out.`;
  return html`<header>
    <h1>${view.job}</h1>
    <p class="soft">
      Federated training, as seen by ${view.party}, the ${view.role} party. Started ${dateText(view.startedAt)}. Report
      made ${dateText(madeAt.getTime())}.
    </p>
    <p><span class="verdict${isGood ? "" : " bad"}">${view.state}</span>${failure}</p>
    ${view.warning === null ? "" : html`<p class="warning" role="alert">${view.warning}</p>`}
    <div class="figures">
      ${figures(view).map(([value, label]) => html`<div><strong>${value}</strong><span>${label}</span></div>`)}
    </div>
    <p class="soft">${own}</p>
  </header>`;
}

/** The line of figures: each with its label. */
function figures(view: JobView): (readonly [string, string])[] {
  const { data } = view;
  const kept = treesKept(view);
  return [
    [`${view.treesDone} of ${view.treeCount}`, kept === null ? "trees" : `trees, the best ${kept} kept`],
    [formatSeconds((view.lastAt - view.startedAt) / 1000), "total time"],
    ...(data === null ? [] : [[formatCount(data.trainRows), "training rows"] as const]),
    ...(data === null || data.testRows === 0 ? [] : [[formatCount(data.testRows), "test rows"] as const]),
    cipherFigure(view),
  ];
}

/** Where no key outlives a node there is none to speak of. */
function cipherFigure({ parameters, hidesMembers }: JobView): readonly [string, string] {
  if (hidesMembers) return [String(parameters["scheme"] ?? "–"), "scheme; who is in a node is hidden"];
  return [String(parameters["key_bits"] ?? "–"), "bits of Paillier key"];
}

function dateText(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19).replace("T", " ")} UTC`;
}
