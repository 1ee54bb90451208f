/** Importance: per party, per own feature, and how much each changes scores. */
import { contributionBars, type ContributionSummary, contributionWords } from "../../src/record/contribution-facts.ts";
import type { JobView } from "../../src/record/job-view.ts";
import {
  type Importance,
  importance,
  importanceByParty,
  importanceFractions,
  importanceName,
  type OwnJobView,
} from "../../src/record/own-view.ts";
import { Card, CellBar, Table } from "./card.tsx";
import { DriftCard } from "./drift.tsx";
import { partyColour } from "./party-colour.ts";

interface ImportanceProps {
  readonly view: JobView;
  readonly rows: readonly Importance[];
  readonly by: "party" | "feature";
}

export function ImportanceTable({ view, rows, by }: ImportanceProps) {
  const { title, fractions } = importanceFractions(rows);
  const most = Math.max(...fractions, 1e-300);
  return (
    <Table
      caption={`Importance per ${by}`}
      head={[by, title, "", "splits"]}
      textColumns={2}
      rows={rows.map((row, i) => [
        by === "feature" ? importanceName(row) : row.party,
        <CellBar part={fractions[i] / most} colour={partyColour(view, row.party)} />,
        `${(fractions[i] * 100).toFixed(1)}%`,
        String(row.splits),
      ])}
    />
  );
}

/** @param own of the trees that are in the model */
export function ImportanceCards({ view, own }: { readonly view: JobView; readonly own: OwnJobView }) {
  const rows = importance(own, view.party);
  if (rows.length === 0) return null;
  // A passive party sees its own splits only: it could not compare itself with others.
  const knowsOthers = rows.every(({ gain }) => gain !== null);
  return (
    <div class="grid">
      {knowsOthers && (
        <Card title="Importance per party">
          <ImportanceTable view={view} rows={importanceByParty(rows)} by="party" />
        </Card>
      )}
      <Card title="Importance per feature">
        <ImportanceTable view={view} rows={rows} by="feature" />
        <p class="note">
          {knowsOthers && "Gain: by how much a feature's splits improve the fit to the training rows. "}
          A party sees the names of its own features only.
        </p>
      </Card>
      {own.contributions !== null && own.contributions.means.length > 0 && (
        <Contributions view={view} summary={own.contributions} />
      )}
      {own.drift !== null && <DriftCard summary={own.drift} />}
    </div>
  );
}

/** The mean size of SHAP values, per own feature and per other party. */
export function Contributions({ view, summary }: { readonly view: JobView; readonly summary: ContributionSummary }) {
  return (
    <Card title="What moves scores">
      <Table
        caption="Mean size of SHAP values"
        head={["feature", "mean size", ""]}
        textColumns={2}
        rows={contributionBars(summary).map(({ name, party, part, words }) => [
          name,
          <CellBar part={part} colour={partyColour(view, party)} />,
          words,
        ])}
      />
      <p class="note">{contributionWords(summary)}</p>
    </Card>
  );
}
