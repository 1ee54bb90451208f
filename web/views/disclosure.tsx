/** What was revealed to whom so far: the ledger of docs/leakage.md, counted. */
import { formatCount } from "../../src/base/text/format.ts";
import { type LedgerLine, ledgerLines, notSent } from "../../src/record/job-facts.ts";
import { assumption } from "../../src/record/spending-facts.ts";
import type { JobViews } from "../../src/record/stored-record.ts";
import { Card, Nothing, Table } from "./card.tsx";

export function Disclosure({ view }: Pick<JobViews, "view">) {
  const lines = ledgerLines(view);
  const learners = [...new Set(lines.map(({ learner }) => learner))];
  return (
    <>
      <p class="lead">
        What {view.party === "" ? "this party" : view.party} and the others have learnt of each other so far, in the
        words of docs/leakage.md. {notSent} {assumption(view)}
      </p>
      {lines.length === 0 ? (
        <Card title="What was learnt">
          <Nothing>Nothing has been revealed yet. Counts appear here when the first tree begins.</Nothing>
        </Card>
      ) : (
        <div class="grid">
          {learners.map((learner) => (
            <Card key={learner} title={`What ${learner} has learnt`} wide={learner === view.party}>
              <Learnt lines={lines.filter((line) => line.learner === learner)} learner={learner} />
            </Card>
          ))}
        </div>
      )}
    </>
  );
}

/** One column per party that it was learnt about. */
function Learnt({ lines, learner }: { readonly lines: readonly LedgerLine[]; readonly learner: string }) {
  const abouts = [...new Set(lines.map(({ about }) => about))];
  const whats = [...new Set(lines.map(({ what }) => what))];
  const find = (what: string, about: string): LedgerLine | undefined =>
    lines.find((line) => line.what === what && line.about === about);
  return (
    <Table
      caption={`What ${learner} has learnt`}
      head={["", ...abouts.map((about) => `from ${about}`)]}
      rows={whats.map((what) => [
        <>
          {what}
          <span class="unit">{lines.find((line) => line.what === what)?.unit}</span>
        </>,
        ...abouts.map((about) => formatCount(Math.round(find(what, about)?.count ?? 0))),
      ])}
    />
  );
}
