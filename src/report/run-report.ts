/**
 * The report of a run: one HTML file without scripts and without a request to anywhere, for whoever must be convinced
 * afterwards. It shows what the page shows, from the same views, and says what was proven and what was revealed.
 */
import { formatBytes, formatCount, formatSeconds } from "../base/format.ts";
import { type Html, html, htmlTable, rendered } from "./html.ts";
import { type Importance, importance, importanceByParty, type OwnRunView } from "../record/own-view.ts";
import { condition } from "./tree-layout.ts";
import { ksChart, learningChart, rocChart, scoreChart } from "./run-charts.ts";
import {
  answerSavings,
  featuresOf,
  gradientSavings,
  ledgerLines,
  modelTrees,
  packedBits,
  slotFacts,
  stoppingMarks,
  treesKept,
} from "../record/run-facts.ts";
import { bitLayoutPicture, partiesPicture, partyColour, phasesPicture, treePicture } from "./run-pictures.ts";
import { reportStyle } from "./run-report-style.ts";
import type { StoredRun } from "../record/run-store.ts";
import type { PartyView, RunView } from "../record/run-view.ts";

/** A report is for reading: of a model of thousands of trees it draws the first ones. */
const treesDrawn = 6;

/**
 * @param options.withOwn false leaves out what only the party itself may see: its splits and the curves of its scores
 */
export function runReport(
  { view, own }: StoredRun,
  madeAt: Date,
  { withOwn = true }: { readonly withOwn?: boolean } = {},
): string {
  const body = html`${heading(view, madeAt, withOwn)}${metricsPart(view)}${partiesPart(view)}${qualityPart(view, withOwn ? own.scores : null)}${timePart(view)}${codecPart(view)}${withOwn ? modelPart(view, modelTrees(view, own)) : ""}${disclosurePart(view)}${recordPart(view, own)}`;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<title>${rendered(`Tandem: ${view.job}, ${view.party}`)}</title><style>${reportStyle}</style></head>
<body><main>${body.text}</main></body></html>
`;
}

function heading(view: RunView, madeAt: Date, withOwn: boolean): Html {
  const good = view.state === "finished";
  const seconds = (view.lastAt - view.startedAt) / 1000;
  const figure = (value: string, label: string): Html =>
    html`<div><strong>${value}</strong><span>${label}</span></div>`;
  return html`<header>
    <h1>${view.job}</h1>
    <p class="soft">
      Federated training as ${view.party}, the ${view.role} party, saw it. Begun ${dateText(view.startedAt)}; report
      made ${dateText(madeAt.getTime())}.
    </p>
    <p>
      <span class="verdict${good ? "" : " bad"}">${view.state}</span
      >${view.failure === null ? "" : html` ${view.failure.message} (${view.failure.code})`}
    </p>
    <div class="figures">
      ${figure(`${view.treesDone} of ${view.treeCount}`, treesKept(view) === null ? "trees" : `trees, the best ${treesKept(view)} kept`)}${figure(formatSeconds(seconds), "from the first event to the last")}${view.data === null ? "" : figure(formatCount(view.data.trainRows), "people trained on")}${view.data === null || view.data.testRows === 0 ? "" : figure(formatCount(view.data.testRows), "people tested on")}${figure(String(view.parameters["key_bits"] ?? "–"), "bits of Paillier key")}
    </div>
    ${withOwn ? html`<p class="soft">This report has ${view.party}'s own splits in it, with their thresholds and categories. 'tandem report --public' leaves them out.</p>` : html`<p class="soft">Without the splits and scores that only ${view.party} may see.</p>`}
  </header>`;
}

function metricsPart({ result, rounds }: RunView): Html {
  const train = result?.metrics.train ?? rounds[rounds.length - 1]?.train;
  if (train === undefined) return html``;
  const test = result?.metrics.test ?? null;
  const validation = result?.metrics.validation ?? rounds[rounds.length - 1]?.validation ?? null;
  const names = Object.keys(train);
  const row = (name: string, metrics: Readonly<Record<string, number>>): string[] => [
    name,
    ...names.map((metric) => metrics[metric]?.toFixed(5) ?? ""),
  ];
  const alone = result?.alone;
  const rows = [
    ...metricsRows("", { train, validation, test }, row),
    ...(alone === undefined ? [] : metricsRows(", own columns alone", alone, row)),
  ];
  return html`<h2>Metrics</h2>
    ${htmlTable(["", ...names], rows)}${alone === undefined ? "" : html`<p class="soft">Own columns alone: a model of this party's columns only, on the same rows, with the same seed and parameters. The difference is what the other parties' columns added.</p>`}`;
}

type Metrics = Readonly<Record<string, number>>;

function metricsRows(
  suffix: string,
  {
    train,
    validation,
    test,
  }: { readonly train: Metrics; readonly validation?: Metrics | null | undefined; readonly test: Metrics | null },
  row: (name: string, metrics: Metrics) => string[],
): string[][] {
  const parts = [
    ["training rows", train],
    ["validation rows", validation ?? null],
    ["test rows", test],
  ] as const;
  return parts.flatMap(([name, metrics]) => (metrics === null ? [] : [row(name + suffix, metrics)]));
}

function partiesPart(view: RunView): Html {
  const features = (party: PartyView): string => featuresOf(view, party)?.toString() ?? "";
  const rows = view.parties.map((party) => [
    html`<span class="dot" style="background:${partyColour(view, party.name)}"></span>${party.name}`,
    party.role,
    features(party),
    formatBytes(party.sentBytes),
    formatBytes(party.receivedBytes),
  ]);
  return html`<h2>Parties</h2>
    <figure class="parties">${partiesPicture(view)}</figure>
    ${htmlTable(["party", "role", "features that take part", "sent", "received"], rows, 2)}
    <p class="soft">
      Payload bytes between this party and the others, in messages of training; under TLS 1.3 with certificates on both
      sides.
    </p>`;
}

/** Curves of scores are the party's own: a public report goes without. */
function qualityPart(view: RunView, scores: OwnRunView["scores"]): Html {
  const names = Object.keys(view.rounds[0]?.train ?? {});
  if (names.length === 0) return html``;
  const learning = names.map((name) =>
    chart(`${name} after each tree`, learningChart(view.rounds, name, stoppingMarks(view))),
  );
  const curves =
    scores === null
      ? []
      : [
          chart("ROC curve, test rows", rocChart(scores)),
          chart("KS: share of each label at or below a score, test rows", ksChart(scores)),
          chart("Distribution of scores: share of each label, test rows", scoreChart(scores)),
        ];
  return html`<h2>Quality</h2>
    <div class="charts">${learning}${curves}</div>`;
}

function chart(caption: string, picture: Html): Html {
  return html`<figure>
    <figcaption>${caption}</figcaption>
    ${picture}
  </figure>`;
}

function timePart(view: RunView): Html {
  const spans = view.spans.current.length > 0 ? view.spans.current : view.spans.previous;
  const { result } = view;
  const wall =
    result === null ? [] : Object.entries(result.phasesMs).map(([name, ms]) => [name, (ms / 1000).toFixed(3)]);
  const totals = [...view.totals].flatMap(([party, byPhase]) =>
    [...byPhase].map(([phase, ms]) => [party, phase, (ms / 1000).toFixed(2)]),
  );
  const use = result ?? view.passiveResult;
  return html`<h2>Time</h2>
    ${
      spans.length === 0
        ? ""
        : html`<figure>
            <figcaption>Tree ${spans[0].tree + 1}, phase by phase</figcaption>
            ${phasesPicture(view, spans)}
          </figure>`
    }
    ${
      totals.length === 0
        ? ""
        : html`<h3>All trees, seconds per party and phase</h3>
            ${htmlTable(["party", "phase", "seconds"], totals, 2)}`
    }
    ${
      wall.length === 0
        ? ""
        : html`<h3>Wall clock of this party</h3>
            ${htmlTable(["phase", "seconds"], wall)}`
    }
    ${use === null ? "" : html`<p class="soft">This party's process took ${formatSeconds(use.cpuSeconds)} of CPU and at most ${formatBytes(use.peakRssBytes)} of memory.</p>`}`;
}

function codecPart(view: RunView): Html {
  const { layout } = view;
  if (layout === null) return html``;
  const packed = packedBits(layout);
  const savings = [
    { name: "gradient ciphertexts sent", value: gradientSavings(view) },
    { name: "sum ciphertexts returned", value: answerSavings(view) },
  ].flatMap(({ name, value }) =>
    value === null || value.unbatched === 0
      ? []
      : [[name, formatCount(value.ciphertexts), formatCount(value.unbatched), formatBytes(value.savedBytes)]],
  );
  return html`<h2>Encoding, and the proof that no sum overflows</h2>
    <figure>
      <figcaption>One person's plaintext, to scale: ${layout.codec}, layout ${layout.kind}</figcaption>
      ${bitLayoutPicture(layout)}
    </figure>
    ${htmlTable(
      ["slot", "information bits", "guard bits", "people", "largest possible sum", "overflow begins at", "head-room"],
      slotFacts(layout).map((slot) => [
        slot.name,
        slot.informationBits,
        slot.guardBits,
        formatCount(layout.instanceCountMax),
        formatCount(slot.sumMax),
        formatCount(slot.limit),
        `${slot.headRoomBits.toFixed(2)} bits`,
      ]),
    )}
    ${layout.proof.map((line) => html`<p class="mono">${line}</p>`)}
    <p>
      The inequality was checked with integers before the first encryption; every decryption checks again that the guard
      bits of each slot are not all ones, and stops the job otherwise.
      ${view.state === "finished" ? "This run ended without such a stop: no sum overflowed." : ""}
    </p>
    <h3>What batching and packing save</h3>
    <p>
      ${layout.slots.length} values of a person ride in ${layout.plaintextsPerInstance}
      ciphertext${layout.plaintextsPerInstance === 1 ? "" : "s"}; ${layout.sumsPerCiphertext} sums come back in one
      (${packed.used} of ${packed.held} bits used).
    </p>
    ${htmlTable(["", "ciphertexts", "one per value", "bytes saved"], savings)}`;
}

function modelPart(view: RunView, own: OwnRunView): Html {
  const rows = importance(own, view.party);
  if (rows.length === 0) return html``;
  // A passive party does not learn gains: its features are told apart by how often they won.
  const knowsGain = rows.every(({ gain }) => gain !== null);
  const worth = ({ gain, splits: count }: Importance): number => (knowsGain ? (gain ?? 0) : count);
  const total = rows.reduce((sum, row) => sum + worth(row), 0) || 1;
  const head = knowsGain ? "share of gain" : "share of own splits";
  const share = (row: Importance): string => `${((worth(row) / total) * 100).toFixed(1)}%`;
  const trees = [...own.trees.values()].sort((a, b) => a.tree - b.tree);
  const whole = trees.flatMap((tree) => (tree.kind === "whole" ? [tree] : []));
  const splits = trees.flatMap((tree) =>
    tree.kind === "own-splits"
      ? tree.splits.map((split) => [
          String(tree.tree + 1),
          String(split.node),
          split.featureName,
          split.categories === undefined ? `< ${split.threshold}` : condition(split),
          split.defaultLeft ? "left" : "right",
        ])
      : [],
  );
  return html`<h2>The model, as ${view.party} may see it</h2>
    ${
      knowsGain
        ? html`<h3>Importance per party</h3>
            ${htmlTable(
              ["party", head, "splits"],
              importanceByParty(rows).map((row) => [row.party, share(row), row.splits]),
            )}`
        : ""
    }
    <h3>Importance per feature</h3>
    ${htmlTable(
      ["feature", head, "splits"],
      rows.map((row) => [row.feature ?? `all of ${row.party}'s`, share(row), row.splits]),
    )}
    ${
      splits.length === 0
        ? ""
        : html`<h3>Own splits</h3>
            ${htmlTable(["tree", "node", "feature", "goes left", "missing goes"], splits, 3)}`
    }
    ${whole.slice(0, treesDrawn).map(
      (tree) =>
        html`<figure class="tree">
          <figcaption>Tree ${tree.tree + 1}</figcaption>
          ${treePicture(view, tree)}
        </figure>`,
    )}
    ${whole.length > treesDrawn ? html`<p class="soft">${whole.length - treesDrawn} more trees are in the model.</p>` : ""}`;
}

function disclosurePart(view: RunView): Html {
  const lines = ledgerLines(view);
  return html`<h2>What was revealed to whom</h2>
    <p>
      Counted where it happens, as docs/leakage.md names it. No row, threshold or feature name was sent, and no passive
      party was sent a label, a gradient or a score in the clear. What can be computed from this list is more than what
      stands in it: docs/leakage.md says what to assume.
    </p>
    ${
      lines.length === 0
        ? html`<p>Nothing: the job never got that far.</p>`
        : htmlTable(
            ["who learnt it", "about", "what", "how many"],
            lines.map((line) => [
              line.learner,
              line.about,
              line.what,
              `${formatCount(Math.round(line.count))} ${line.unit}`,
            ]),
            3,
          )
    }
    ${view.alignment.commonCount === null ? "" : html`<p>The ids were aligned first: ${formatCount(view.alignment.commonCount)} people are common to all parties.</p>`}`;
}

function recordPart(view: RunView, { dataDigest }: OwnRunView): Html {
  const { versions, data } = view;
  return html`<h2>Parameters, versions and data</h2>
    <dl>
      ${Object.entries(view.parameters).map(
        ([name, value]) =>
          html`<div>
            <dt>${name}</dt>
            <dd>${String(value)}</dd>
          </div>`,
      )}
    </dl>
    <h3>Versions</h3>
    <p class="mono">
      ${versions === null ? "–" : `tandem ${versions.tandem}, protocol ${versions.protocol}, Node ${versions.node}`}${view.kernel === null ? "" : `, ${view.kernel} kernel`}
    </p>
    <h3>Data</h3>
    ${
      data === null
        ? html`<p>–</p>`
        : html`<p>
              ${formatCount(data.trainRows)} training rows of ${formatCount(data.featureCount)} own features;
              ${formatCount(data.testRows)} test rows. SHA-256 of the training rows:
            </p>
            <p class="mono">${dataDigest ?? "–"}</p>`
    }
    ${view.resumed === 0 ? "" : html`<p>The job was stopped and taken up again ${view.resumed} times.</p>`}`;
}

function dateText(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19).replace("T", " ")} UTC`;
}
