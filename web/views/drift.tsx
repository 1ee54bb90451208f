/** How far the people who are scored have moved from those of the training. */
import { type DriftSummary, driftRows, driftWords } from "../../src/record/drift-facts.ts";
import { stabilityBounds } from "../../src/base/statistics/stability-index.ts";
import { Card, Table } from "./card.tsx";

export function DriftCard({ summary }: { readonly summary: DriftSummary }) {
  return (
    <Card title="Drift">
      <Table
        caption="Stability index of scores and own features"
        head={["quantity", "change", "index"]}
        textColumns={2}
        rows={driftRows(summary).map(({ name, index, level }) => [name, level, index.toFixed(3)])}
      />
      <p class="note">
        {driftWords(summary)} As of {new Date(summary.at).toISOString().slice(0, 16).replace("T", " ")} UTC. Look at
        what has {stabilityBounds.large} or more before the model is used further.
      </p>
    </Card>
  );
}
