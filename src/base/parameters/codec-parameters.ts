/**
 * How gradients become plaintexts. Jobs choose the resolution; the other parameters of the paper's codec (sec. III) are
 * set in code by experiments. Its alpha is `codec_alpha` here: `alpha` is XGBoost's L1 regularisation.
 */
import type { ParameterSpec, ValuesOf } from "./parameter-spec.ts";

export const codecParameters = {
  resolution_bits: {
    kind: "integer",
    default: 24,
    min: 4,
    max: 24,
    help: "gradients are rounded to bound * 2^-bits",
  },
} as const satisfies Record<string, ParameterSpec>;

export const codecNames = ["batched", "unbatched"] as const;

export interface CodecParameters extends ValuesOf<typeof codecParameters> {
  /** g and h in one plaintext (the paper), or in two (SecureBoost). */
  readonly codec: (typeof codecNames)[number];
  /** Slots derived with a proof of no overflow, or the paper's literal parameters: those that follow. */
  readonly layout: "auto" | "paper";
  /** s, subtracted from every value. */
  readonly shift: number;
  /** Shifted values are truncated to [0, codec_alpha]. */
  readonly codec_alpha: number;
  /** [0, alpha_max] maps to [0, 2^r). */
  readonly alpha_max: number;
  /** Information bits of a slot. */
  readonly r: number;
  /** Overflow protection bits above each slot, in either layout. */
  readonly padding: number;
}

function integer(min: number, max: number) {
  return { kind: "integer", default: min, min, max, help: "" } as const;
}

/** The bounds that a handshake accepts: those of any experiment. */
export const codecBounds = { resolution_bits: integer(4, 44), r: integer(1, 50), padding: integer(1, 16) };

/** Of the paper. */
export const paperSlotBits = 30;

export function codecWith(given: Partial<CodecParameters> = {}): CodecParameters {
  return {
    resolution_bits: codecParameters.resolution_bits.default,
    codec: "batched",
    layout: "auto",
    shift: -10,
    codec_alpha: 20,
    alpha_max: 1e6,
    r: paperSlotBits,
    padding: 2,
    ...given,
  };
}
