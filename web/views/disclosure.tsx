/** What was revealed to whom so far: the ledger of docs/leakage.md, counted. */
import { formatCount } from "../../src/base/text/format.ts";
import { disclosureLead, type LedgerLine, ledgerLines } from "../../src/record/ledger-facts.ts";
import { type RevealedFact, revealedFacts } from "../../src/record/revealed.ts";
import type { JobViews } from "../../src/record/stored-record.ts";
import { Card, CellBar, Lead, Nothing, Table } from "./card.tsx";

export function Disclosure({ view, own }: JobViews) {
  const lines = ledgerLines(view);
  const learners = [...new Set(lines.map(({ learner }) => learner))];
  return (
    <>
      <Lead sentences={disclosureLead(view, own.revealed)} />
      <p class="note">
        A node is a group of people that a tree has formed. A split divides it by a candidate: a threshold or a set of
        categories of one feature. The outcome of a split is who comes to which side. Gradients, or g and h, are
        computed from each person's label and score, and their sums over people decide which candidate is best.
      </p>
      <ByDate facts={revealedFacts(view, own.revealed)} />
      {lines.length === 0 ? (
        <Card title="What was learned">
          <Nothing>Nothing has been revealed. Counts appear here when the first tree begins.</Nothing>
        </Card>
      ) : (
        <div class="grid">
          {learners.map((learner) => {
            const its = lines.filter((line) => line.learner === learner);
            const abouts = [...new Set(its.map(({ about }) => about))];
            return (
              <Card key={learner} title={`What ${learner} has learned`} wide={abouts.length > 1}>
                <Learned learner={learner} abouts={abouts} lines={its} />
              </Card>
            );
          })}
        </div>
      )}
    </>
  );
}

/** Before and after training; what training revealed is counted in the other cards. */
function ByDate({ facts }: { readonly facts: readonly RevealedFact[] }) {
  if (facts.length === 0) return null;
  return (
    <Card title="Before and after training, by date" wide>
      <Table
        caption="What was revealed before and after training"
        stacks
        head={["date (UTC)", "who has learned", "about", "what"]}
        rows={facts.map(({ when, learner, about, words }) => [<time>{when}</time>, learner, about, words])}
        textColumns={4}
      />
    </Card>
  );
}

interface LearnedProps {
  readonly learner: string;
  readonly abouts: readonly string[];
  readonly lines: readonly LedgerLine[];
}

/** One column per party that it was learned about. */
function Learned({ learner, abouts, lines }: LearnedProps) {
  const whats = [...new Set(lines.map(({ what }) => what))];
  const find = (what: string, about: string): LedgerLine | undefined =>
    lines.find((line) => line.what === what && line.about === about);
  return (
    <Table
      caption={`What ${learner} has learned`}
      stacks
      head={["", ...abouts.map((about) => `about ${about}`)]}
      rows={whats.map((what) => [
        <>
          {what}
          <span class="unit">{lines.find((line) => line.what === what)?.unit}</span>
        </>,
        ...abouts.map((about) => <Amount line={find(what, about)} />),
      ])}
    />
  );
}

/** A count, and how much that is. */
function Amount({ line }: { readonly line: LedgerLine | undefined }) {
  if (line === undefined) return <>none</>;
  const { count, scale } = line;
  return (
    <>
      {formatCount(Math.round(count))}
      {scale.part !== null && <CellBar part={scale.part} colour="var(--accent)" framed />}
      <span class="unit">{scale.words}</span>
    </>
  );
}
