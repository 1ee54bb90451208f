/** A report's encoding: the bits of one plaintext, the proof that no sum overflows, and what batching saved. */
import { formatBytes, formatCount } from "../base/text/format.ts";
import { type Html, html } from "../base/text/html.ts";
import type { LayoutSummary } from "../record/events/training-events.ts";
import { answerSavings, gradientSavings, hiddenEncoding, packedBits, slotHead, slotRows } from "../record/job-facts.ts";
import type { JobView } from "../record/job-view.ts";
import { htmlTable } from "./html-table.ts";
import { bitLayoutPicture } from "./job-pictures.ts";

export function encodingPart(view: JobView): Html {
  const { layout } = view;
  if (layout === null) return html``;
  if (view.hidesMembers) return ofHidden(layout);
  return html`<h2>Encoding, and the proof that no sum overflows</h2>
    <figure>
      <figcaption>One person's plaintext, to scale (codec ${layout.codec}, layout ${layout.kind})</figcaption>
      ${bitLayoutPicture(layout)}
    </figure>
    ${htmlTable(slotHead, slotRows(layout))} ${layout.proof.map((line) => html`<p class="mono">${line}</p>`)}
    <p>
      This was checked with integers before the first encryption. Every decryption checks it again: a sum whose guard
      bits are all ones stops the job.
      ${view.state === "finished" ? "This job ended without such a stop, so no sum overflowed." : ""}
    </p>
    <h3>What batching and packing save</h3>
    <p>${packingWords(layout)}</p>
    ${htmlTable(["", "ciphertexts", "one per value", "bytes saved"], savingsRows(view))}`;
}

/** g and h are sealed for every node anew, as integers of either sign: there is nothing to batch or pack. */
function ofHidden({ proof }: LayoutSummary): Html {
  return html`<h2>Encoding, and the proof that no sum overflows</h2>
    ${proof.map((line) => html`<p class="mono">${line}</p>`)}
    <p>${hiddenEncoding}</p>`;
}

function packingWords(layout: LayoutSummary): string {
  const { slots, plaintextsPerInstance, sumsPerCiphertext } = layout;
  const packed = packedBits(layout);
  return (
    `The ${slots.length} values of a person travel in ` +
    `${plaintextsPerInstance} ciphertext${plaintextsPerInstance === 1 ? "" : "s"}. ` +
    `${sumsPerCiphertext} sums come back in one ciphertext, which uses ${packed.used} of its ${packed.held} bits.`
  );
}

function savingsRows(view: JobView): string[][] {
  return [
    { name: "gradient ciphertexts sent", value: gradientSavings(view) },
    { name: "sum ciphertexts returned", value: answerSavings(view) },
  ].flatMap(({ name, value }) =>
    value === null || value.unbatched === 0
      ? []
      : [[name, formatCount(value.ciphertexts), formatCount(value.unbatched), formatBytes(value.savedBytes)]],
  );
}
