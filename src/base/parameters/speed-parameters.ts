/** What makes the arithmetic cheaper. Each can be switched off, and none changes the model. */
import { choice, type ParameterSpec, type ValuesOf } from "./parameter-spec.ts";

export const speedParameters = {
  packing: { kind: "switch", default: true, help: "return several candidate sums in one ciphertext" },
  subtraction: {
    kind: "switch",
    default: true,
    help: "derive the larger sibling from its parent",
  },
  joint_bins: { kind: "switch", default: true, help: "sum groups of features in joint bins first" },
  skip_bin: { kind: "switch", default: true, help: "leave each feature's most frequent bin out of the sums" },
  encryption: choice(
    ["full", "short", "textbook"],
    "full",
    "obfuscators: full-size exponents, short ones (Damgard-Jurik-Nielsen: one more assumption), or textbook r^n",
  ),
} as const satisfies Record<string, ParameterSpec>;

export type SpeedParameters = ValuesOf<typeof speedParameters>;
