/** What the model leans on, per own feature or per party. */
import { type Importance, importanceName, importanceFractions } from "../../src/record/own-view.ts";
import type { JobView } from "../../src/record/job-view.ts";
import { Table } from "./card.tsx";
import { partyColour } from "./party-colour.ts";

export function ImportanceTable({
  view,
  rows,
  own,
}: {
  readonly view: JobView;
  readonly rows: readonly Importance[];
  readonly own: boolean;
}) {
  const { title, fractions } = importanceFractions(rows);
  const most = Math.max(...fractions, 1e-300);
  return (
    <Table
      caption={own ? "Importance per feature" : "Importance per party"}
      head={[own ? "feature" : "party", title, "", "splits"]}
      textColumns={2}
      rows={rows.map((row, i) => [
        own ? importanceName(row) : row.party,
        <span class="cell-bar" aria-hidden="true" style={{ color: partyColour(view, row.party) }}>
          <span style={{ width: `${(fractions[i] / most) * 100}%` }} />
        </span>,
        `${(fractions[i] * 100).toFixed(1)}%`,
        String(row.splits),
      ])}
    />
  );
}
