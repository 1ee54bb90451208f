/**
 * How much memory a job takes at a passive party, estimated from rows, columns and scheme before it begins. The table
 * itself is shared by all jobs and not part of it. docs/performance.md has the measured figures behind the constants.
 */
import { ownMemoryBytes } from "../../base/own-memory.ts";
import { TandemError } from "../../base/error.ts";
import { agreedLayout } from "../../codec/agreed-layout.ts";
import type { GradientLayout } from "../../codec/layout.ts";
import { type AgreedParameters, layoutTerms } from "../../protocol/job-parameters.ts";
import { schemeNamed } from "../../scheme/registry.ts";

export interface JobRowsAndColumns {
  readonly rows: number;
  readonly features: number;
}

const megabyte = 1 << 20;
/** Messages in transit, threads, and what the others leave out. */
const fixedBytes = 32 * megabyte;
/** Positions, members of nodes and digests. */
const rowBytes = 40;
/** Points of a private set intersection, and positions. */
const alignmentRowBytes = 64;
const binBytes = 2;
/** Where the requested resolution is too fine for the scheme, the job will have a coarser one. */
const coarseBits = 16;

/** Of a private set intersection alone. */
export function alignmentBytes({ rows }: Pick<JobRowsAndColumns, "rows">): number {
  return fixedBytes + rows * alignmentRowBytes;
}

export function jobBytes({ rows, features }: JobRowsAndColumns, agreed: AgreedParameters): number {
  const scheme = schemeNamed(agreed.scheme);
  const { schemeParameters: parameters, maxBin } = agreed;
  const layout = layoutFor(agreed, rows);
  const shape = { rows, features, candidates: features * maxBin };
  const held = layout === null ? 0 : (scheme.heldBytes?.(layout, shape) ?? ciphertextBytes());
  return Math.max(alignmentBytes({ rows }), fixedBytes + rows * (rowBytes + binBytes * features) + held);

  function ciphertextBytes(): number {
    if (layout === null) return 0;
    const sizes = scheme.sizes(parameters, layout);
    return rows * sizes.ciphertextsPerInstance * sizes.ciphertextBytes;
  }
}

function layoutFor(agreed: AgreedParameters, rows: number): GradientLayout | null {
  const bits = schemeNamed(agreed.scheme).plaintextBitsMax(agreed.schemeParameters);
  for (const resolutionBits of [agreed.resolutionBits, Math.min(agreed.resolutionBits, coarseBits)]) {
    try {
      return agreedLayout({ ...layoutTerms(agreed), resolutionBits }, Math.max(1, rows), bits);
    } catch (error) {
      if (!(error instanceof TandemError)) throw error;
    }
  }
  return null; // such a job is refused at its set-up
}

/** Half of the machine's memory, or of its container's. */
export function usualJobBytesMax(): number {
  return ownMemoryBytes() / 2;
}
