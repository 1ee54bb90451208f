/**
 * Options that have no effect in the lattice scheme. They are rejected rather than ignored, because a user who sets one
 * expects an effect.
 */
import { codecParameters, speedParameters } from "../../base/parameters/parameters.ts";
import type { Conflict, GivenOptions } from "../scheme.ts";

/** Why each speed option does not apply. */
const speedAdvice = {
  packing: "answers contain no ciphertexts to pack",
  subtraction: "it always derives the larger sibling from its parent",
  joint_bins: "it adds plain integers, which joint bins do not make cheaper",
  skip_bin: "it always skips one bin of each feature",
  encryption: "it has no obfuscators",
} as const satisfies Record<keyof typeof speedParameters, string>;

export function latticeConflicts({ keyBitsGiven, codec, speed }: GivenOptions): readonly Conflict[] {
  const names = Object.keys(speedAdvice) as (keyof typeof speedAdvice)[];
  const changed = names.filter((name) => speed[name] !== speedParameters[name].default);
  return [
    ...(keyBitsGiven === null ? [] : [conflict([keyBitsGiven], "its security does not depend on a key length")]),
    ...(codec.layout === "auto" ? [] : [conflict(["codec", "layout"], "it needs layout auto")]),
    ...(codec.codec === "batched" ? [] : [conflict(["codec", "codec"], "it needs codec batched")]),
    ...(codec.padding === codecParameters.padding.default
      ? []
      : [conflict(["codec", "padding"], "its sums have no slots that overflow into each other")]),
    ...changed.map((name) => conflict(["speed", name], speedAdvice[name])),
  ];
}

function conflict(field: readonly string[], why: string): Conflict {
  return { field, advice: `cannot be used with the lattice scheme: ${why}. Leave it out, or use scheme paillier` };
}
