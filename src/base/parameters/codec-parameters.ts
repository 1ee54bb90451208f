/**
 * How gradients become plaintexts. Names are the paper's (sec. III), but its alpha is `codec_alpha` here: `alpha` is
 * XGBoost's L1 regularisation.
 */
import { choice, type ParameterSpec, type ValuesOf } from "./parameter-spec.ts";

export const codecParameters = {
  codec: choice(["batched", "unbatched"], "batched", "g and h in one ciphertext (the paper) or two (SecureBoost)"),
  layout: choice(
    ["auto", "paper"],
    "auto",
    "slot layout: derived with a proof of no overflow, or the paper's literal parameters",
  ),
  resolution_bits: {
    kind: "integer",
    default: 24,
    min: 4,
    max: 44,
    help: "layout auto: gradients are rounded to bound * 2^-bits",
  },
  shift: { kind: "number", default: -10, max: 0, help: "layout paper: s, subtracted from every value" },
  codec_alpha: {
    kind: "number",
    default: 20,
    min: 0,
    minExclusive: true,
    formerly: ["alpha"],
    help: "layout paper: shifted values are truncated to [0, codec_alpha]",
  },
  alpha_max: {
    kind: "number",
    default: 1e6,
    min: 0,
    minExclusive: true,
    help: "layout paper: [0, alpha_max] maps to [0, 2^r)",
  },
  r: { kind: "integer", default: 30, min: 1, max: 50, help: "layout paper: information bits of a slot" },
  padding: { kind: "integer", default: 2, min: 1, max: 16, help: "overflow protection bits above each slot" },
} as const satisfies Record<string, ParameterSpec>;

export type CodecParameters = ValuesOf<typeof codecParameters>;
