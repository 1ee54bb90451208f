/** The encoding of this job: its plaintext bit by bit, the proof that no sum overflows, and what batching saves. */
import { formatBytes, formatCount } from "../../src/base/text/format.ts";
import {
  answerSavings,
  bitFields,
  gradientSavings,
  hiddenEncoding,
  packedBits,
  plaintextBitsUsed,
  type Savings,
  slotHead,
  slotRows,
} from "../../src/record/job-facts.ts";
import type { JobViews } from "../../src/record/stored-record.ts";
import { Card, Figure, Nothing, Table } from "./card.tsx";
import { BitLayout, PackedAnswer } from "./bit-layout.tsx";

export function Encoding({ view }: Pick<JobViews, "view">) {
  const { layout } = view;
  if (layout === null) {
    return (
      <Card title="Layout">
        <Nothing>
          {view.role === "passive"
            ? "Only the active party knows the layout. A passive party adds ciphertexts that it cannot read."
            : "The layout appears here, with its proof, before the first tree begins."}
        </Nothing>
      </Card>
    );
  }
  if (!view.membership.gradientsAreShared) return <HiddenEncoding proof={layout.proof} />;
  const packed = packedBits(layout);
  return (
    <>
      <section class="status" aria-label="What batching saves">
        <div class="figures">
          <Figure value={String(layout.slots.length)} label={valuesLabel(layout.plaintextsPerInstance)} />
          <Figure value={String(layout.sumsPerCiphertext)} label="sums per returned ciphertext" />
          <SavingsFigures what="gradient ciphertexts sent" savings={gradientSavings(view)} />
          <SavingsFigures what="sum ciphertexts returned" savings={answerSavings(view)} />
        </div>
      </section>
      <div class="grid">
        <Card
          title={`One person's plaintext, to scale (codec ${layout.codec}, layout ${layout.kind})`}
          wide
          aside={<span class="hint">{`${plaintextBitsUsed(layout)} bits`}</span>}
        >
          <BitLayout fields={bitFields(layout)} />
          <p class="note">
            g is the person's gradient, h the hessian. Guard bits keep them apart and show an overflow.
          </p>
        </Card>
        <Card
          title="One returned plaintext, to scale"
          wide
          aside={<span class="hint">{`${packed.used} of ${packed.held} bits used`}</span>}
        >
          <PackedAnswer layout={layout} />
          <p class="note">A passive party packs many sums into one ciphertext before it sends them back.</p>
        </Card>
        <Card title="No sum can overflow" wide>
          <Table caption="Proof of no overflow" stacks head={slotHead} rows={slotRows(layout)} />
          <Proof lines={layout.proof} />
          <p class="note">
            This is proven before the first encryption. Every decryption checks it again: a sum whose guard bits are all
            ones stops the job.
            {view.state === "finished" && " This job ended without such a stop, so no sum overflowed."}
          </p>
        </Card>
      </div>
    </>
  );
}

/** Where members are hidden, g and h are encrypted anew for every node: there is nothing to batch or pack. */
function HiddenEncoding({ proof }: { readonly proof: readonly string[] }) {
  return (
    <Card title="No sum can overflow" wide>
      <Proof lines={proof} />
      <p class="note">{hiddenEncoding}</p>
    </Card>
  );
}

function Proof({ lines }: { readonly lines: readonly string[] }) {
  return (
    <>
      {lines.map((line) => (
        <p class="mono" key={line}>
          {line}
        </p>
      ))}
    </>
  );
}

function valuesLabel(ciphertexts: number): string {
  return ciphertexts === 1 ? "values per gradient ciphertext" : `values per person, in ${ciphertexts} ciphertexts`;
}

function SavingsFigures({ what, savings }: { readonly what: string; readonly savings: Savings | null }) {
  if (savings === null || savings.unbatched === 0) return null;
  return (
    <Figure
      value={formatCount(savings.ciphertexts)}
      label={`${what} instead of ${formatCount(savings.unbatched)}: ${formatBytes(savings.savedBytes)} saved`}
    />
  );
}
