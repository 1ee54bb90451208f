/** What was revealed to whom so far: the ledger of docs/leakage.md, counted. */
import { formatCount } from "../../src/base/format.ts";
import { ledgerLines } from "../../src/report/run-facts.ts";
import { Card, Nothing, Table } from "./card.tsx";
import { run } from "./session.ts";

export function DisclosureView() {
  const { view } = run.value;
  const lines = ledgerLines(view);
  const learners = [...new Set(lines.map(({ learner }) => learner))];
  return (
    <>
      <h1 class="title">Disclosure</h1>
      <p class="lead">
        What passed between {view.party === "" ? "this party" : view.party} and the others so far, as docs/leakage.md names it. What is not in this list is not revealed: no party learns another's feature values, thresholds or feature names, and no passive party learns a label, a gradient or a score.
      </p>
      {lines.length === 0 ? (
        <Card title="Ledger">
          <Nothing>Nothing has been revealed yet.</Nothing>
        </Card>
      ) : (
        <div class="grid">
          {learners.map((learner) => (
            <Card key={learner} title={`What ${learner} has learnt`} wide>
              <Table
                caption={`What ${learner} has learnt`}
                head={["what", "about", "count", "of"]}
                textColumns={2}
                rows={lines.filter((line) => line.learner === learner).map((line) => [line.what, line.about, formatCount(Math.round(line.count)), line.unit])}
              />
            </Card>
          ))}
        </div>
      )}
    </>
  );
}
