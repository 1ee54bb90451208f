/** What moves scores: the mean size of SHAP values, per own feature and per other party. */
import { contributionBars, type ContributionSummary, contributionWords } from "../../src/record/contribution-facts.ts";
import type { JobView } from "../../src/record/job-view.ts";
import { Card, Table } from "./card.tsx";
import { partyColour } from "./party-colour.ts";

export function Contributions({ view, summary }: { readonly view: JobView; readonly summary: ContributionSummary }) {
  return (
    <Card title="What moves scores">
      <Table
        caption="Mean size of SHAP values"
        head={["feature", "mean size", ""]}
        textColumns={2}
        rows={contributionBars(summary).map(({ name, party, part, words }) => [
          name,
          <span class="cell-bar" aria-hidden="true" style={{ color: partyColour(view, party) }}>
            <span style={{ width: `${part * 100}%` }} />
          </span>,
          words,
        ])}
      />
      <p class="note">{contributionWords(summary)}</p>
    </Card>
  );
}
