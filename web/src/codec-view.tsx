/**
 * The batch codec at work: this job's plaintext, bit by bit, the proof that no sum overflows, and what batching saves.
 */
import { formatBytes, formatCount } from "../../src/base/format.ts";
import {
  answerSavings,
  bitFields,
  gradientSavings,
  packedBits,
  plaintextBitsUsed,
  type Savings,
  slotFacts,
} from "../../src/record/run-facts.ts";
import { Card, Figure, Nothing, Table } from "./card.tsx";
import { BitLayout, PackedAnswer } from "./bit-layout.tsx";
import { run } from "./session.ts";

export function CodecView() {
  const { view } = run.value;
  const { layout } = view;
  if (layout === null) {
    return (
      <>
        <h1 class="title">Codec</h1>
        <Card title="Layout">
          <Nothing>
            {view.role === "passive"
              ? "A passive party adds ciphertexts without knowing what is in them: the layout is the active party's."
              : "The layout is proven before the first tree."}
          </Nothing>
        </Card>
      </>
    );
  }
  const facts = slotFacts(layout);
  const packed = packedBits(layout);
  return (
    <>
      <h1 class="title">Codec</h1>
      <section class="status" aria-label="What batching saves">
        <div class="figures">
          <Figure
            value={`${layout.slots.length} in ${layout.plaintextsPerInstance}`}
            label="a person's values in ciphertexts"
          />
          <Figure value={String(layout.sumsPerCiphertext)} label="sums per returned ciphertext" />
          <SavingsFigures what="gradient ciphertexts sent" savings={gradientSavings(view)} />
          <SavingsFigures what="sum ciphertexts returned" savings={answerSavings(view)} />
        </div>
      </section>
      <div class="grid">
        <Card
          title="One person's plaintext, to scale"
          wide
          aside={<span class="hint">{`${plaintextBitsUsed(layout)} bits`}</span>}
        >
          <BitLayout fields={bitFields(layout)} />
        </Card>
        <Card
          title="One returned plaintext, to scale"
          wide
          aside={<span class="hint">{`${packed.used} of ${packed.held} bits used`}</span>}
        >
          <PackedAnswer layout={layout} />
        </Card>
        <Card title="No sum can overflow" wide>
          <Table
            caption="Proof of no overflow"
            head={[
              "slot",
              "information bits",
              "guard bits",
              "people",
              "largest possible sum",
              "overflow begins at",
              "head-room",
            ]}
            rows={facts.map((slot) => [
              slot.name,
              String(slot.informationBits),
              String(slot.guardBits),
              formatCount(layout.instanceCountMax),
              formatCount(slot.sumMax),
              formatCount(slot.limit),
              `${slot.headRoomBits.toFixed(2)} bits`,
            ])}
          />
          <p class="note">
            Proven before the first encryption, and checked again at every decryption: a sum whose guard bits are all
            ones stops the job.
          </p>
        </Card>
      </div>
    </>
  );
}

function SavingsFigures({ what, savings }: { readonly what: string; readonly savings: Savings | null }) {
  if (savings === null || savings.unbatched === 0) return null;
  return (
    <Figure
      value={`${formatCount(savings.ciphertexts)} of ${formatCount(savings.unbatched)}`}
      label={`${what}, of what one per value would be; ${formatBytes(savings.savedBytes)} saved`}
    />
  );
}
