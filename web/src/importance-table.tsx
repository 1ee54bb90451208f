/** What the model leans on, per own feature or per party. */
import type { Importance } from "../../src/record/own-view.ts";
import type { RunView } from "../../src/record/run-view.ts";
import { Table } from "./card.tsx";
import { partyColour } from "./party-colour.ts";

export function ImportanceTable({
  view,
  rows,
  own,
}: {
  readonly view: RunView;
  readonly rows: readonly Importance[];
  readonly own: boolean;
}) {
  const knowsGain = rows.every(({ gain }) => gain !== null);
  const worth = (row: Importance): number => (knowsGain ? (row.gain ?? 0) : row.splits);
  const total = rows.reduce((sum, row) => sum + worth(row), 0) || 1;
  const most = Math.max(...rows.map(worth), 1e-300);
  return (
    <Table
      caption={own ? "Importance per feature" : "Importance per party"}
      head={[own ? "feature" : "party", knowsGain ? "share of gain" : "share of own splits", "", "splits"]}
      textColumns={2}
      rows={rows.map((row) => [
        own ? (row.feature ?? `all of ${row.party}'s`) : row.party,
        <span class="cell-bar" aria-hidden="true" style={{ color: partyColour(view, row.party) }}>
          <span style={{ width: `${(worth(row) / most) * 100}%` }} />
        </span>,
        `${((worth(row) / total) * 100).toFixed(1)}%`,
        String(row.splits),
      ])}
    />
  );
}
