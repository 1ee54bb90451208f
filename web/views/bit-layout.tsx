/** Bit layouts, drawn to scale: highest bits to the left, as in eq. (8). */
import type { BitField } from "../../src/record/job-facts.ts";
import type { JobView } from "../../src/record/job-view.ts";

type Layout = NonNullable<JobView["layout"]>;

const width = 1000;

export function BitLayout({ fields }: { readonly fields: readonly BitField[] }) {
  const total = fields.reduce((sum, { bits }) => sum + bits, 0);
  let at = 0;
  const placed = fields.map((field) => {
    const x = (at / total) * width;
    at += field.bits;
    return { ...field, x, w: (field.bits / total) * width, high: total - (at - field.bits) - 1, low: total - at };
  });
  const words = placed
    .map(({ kind, name, bits }) => (kind === "padding" ? `${bits} guard bits` : `${bits} bits of ${name}`))
    .join(", ");
  return (
    <div class="scroll" role="region" aria-label="Bit layout of one person's plaintext" tabIndex={0}>
      <svg class="bits" viewBox={`0 0 ${width} 108`} role="img" aria-label={`From the highest bit: ${words}`}>
        {placed.map(({ kind, name, bits, x, w, high, low }) => (
          <g key={x} class={kind === "padding" ? "guard" : `slot slot-${name[0]}`}>
            <rect x={x} y={30} width={w} height={44} />
            {kind === "slot" && (
              <text x={x + w / 2} y={57} text-anchor="middle" class="slot-text">
                {name}: {bits} bits
              </text>
            )}
            {kind === "padding" && (
              <text x={x + 2} y={20} class="bit-text">
                {bits} guard
              </text>
            )}
            {(kind === "padding" || x === 0) && (
              <text x={x + 2} y={94} class="bit-text">
                {high}
              </text>
            )}
            {low === 0 && (
              <text x={width - 2} y={94} text-anchor="end" class="bit-text">
                0
              </text>
            )}
          </g>
        ))}
      </svg>
    </div>
  );
}

export function PackedAnswer({ layout }: { readonly layout: Layout }) {
  const held = layout.plaintextBitsMax;
  const stride = (layout.plaintextBits / held) * width;
  const used = stride * layout.sumsPerCiphertext;
  return (
    <div class="scroll" role="region" aria-label="Bit layout of one returned plaintext" tabIndex={0}>
      <svg
        class="bits"
        viewBox={`0 0 ${width} 84`}
        role="img"
        aria-label={`${layout.sumsPerCiphertext} sums of ${layout.plaintextBits} bits side by side in ${held} bits`}
      >
        <rect x={0} y={14} width={width} height={40} class="unused" />
        {Array.from({ length: layout.sumsPerCiphertext }, (_, i) => (
          <rect
            key={i}
            x={width - stride * (i + 1)}
            y={14}
            width={Math.max(1, stride - 1.5)}
            height={40}
            class={i % 2 === 0 ? "sum even" : "sum"}
          />
        ))}
        <text x={0} y={74} class="bit-text">
          {held - 1}
        </text>
        <text x={width} y={74} text-anchor="end" class="bit-text">
          0
        </text>
        <text x={width - used / 2} y={74} text-anchor="middle" class="bit-text">
          {layout.sumsPerCiphertext} sums of {layout.plaintextBits} bits each
        </text>
      </svg>
    </div>
  );
}
