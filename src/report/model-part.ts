/** A report's model, as the party may see it: what it leans on, the party's own splits, the first trees. */
import { type Html, html } from "../base/text/html.ts";
import {
  type Importance,
  importance,
  importanceByParty,
  importanceName,
  importanceFractions,
  type OwnJobView,
  treeTitle,
  type TreeView,
} from "../record/own-view.ts";
import { agreementWords } from "../gbdt/tree/xgboost-agreement.ts";
import type { JobView } from "../record/job-view.ts";
import { contributionPicture } from "./contribution-picture.ts";
import { htmlTable } from "./html-table.ts";
import { treePicture } from "./job-pictures.ts";
import { condition } from "./tree-layout.ts";

/** A report is for reading: of a model of thousands of trees it draws the first ones. */
const treesDrawn = 6;

export function modelPart(view: JobView, own: OwnJobView): Html {
  const rows = importance(own, view.party);
  if (rows.length === 0) return html``;
  const trees = [...own.trees.values()].sort((a, b) => a.tree - b.tree);
  // A passive party sees its own splits only; of the others it could say nothing.
  const knowsOthers = rows.every(({ gain }) => gain !== null);
  const perParty = html`<h3>Importance per party</h3>
    ${importanceTable("party", importanceByParty(rows), ({ party }) => party)}`;
  return html`<h2>The model, as ${view.party} may see it</h2>
    ${knowsOthers ? perParty : ""}
    <h3>Importance per feature</h3>
    ${importanceTable("feature", rows, importanceName)} ${contributions(view, own)} ${ownSplits(trees)}
    ${firstTrees(view, own, trees)}
    <p class="soft">Where the whole model is exported, ${agreementWords}.</p>`;
}

function importanceTable(what: string, rows: readonly Importance[], name: (row: Importance) => string): Html {
  const { title, fractions } = importanceFractions(rows);
  return htmlTable(
    [what, title, "splits"],
    rows.map((row, i) => [name(row), `${(fractions[i] * 100).toFixed(1)}%`, row.splits]),
  );
}

function contributions(view: JobView, { contributions: summary }: OwnJobView): Html {
  if (summary === null || summary.means.length === 0) return html``;
  return html`<h3>What moves scores</h3>
    ${contributionPicture(view, summary)}`;
}

function ownSplits(trees: readonly TreeView[]): Html {
  const rows = trees.flatMap((tree) =>
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
  if (rows.length === 0) return html``;
  return html`<h3>Own splits</h3>
    ${htmlTable(["tree", "node", "feature", "goes left if", "missing goes"], rows, 3)}`;
}

function firstTrees(view: JobView, own: OwnJobView, trees: readonly TreeView[]): Html {
  const whole = trees.flatMap((tree) => (tree.kind === "whole" ? [tree] : []));
  const drawn = whole.slice(0, treesDrawn).map(
    (tree) =>
      html`<figure class="tree">
        <figcaption>${treeTitle(own, tree.tree)}</figcaption>
        ${treePicture(view, tree)}
      </figure>`,
  );
  const more = whole.length - drawn.length;
  const rest = more === 0 ? "" : html`<p class="soft">The model has ${more} more trees.</p>`;
  return html`${drawn}${rest}`;
}
