/**
 * Options that mean nothing to the lattice scheme. They are refused and never ignored: whoever writes one down expects
 * something of it.
 */
import { codecParameters, speedParameters } from "../../base/parameters/parameters.ts";
import type { Conflict, GivenOptions } from "../scheme.ts";

/** What a changed speed option would have to mean here. */
const speedAdvice = {
  packing: "answers have no ciphertexts that could be packed",
  subtraction: "it always derives the larger sibling from its parent",
  joint_bins: "it adds plain integers, which joint bins do not make cheaper",
  skip_bin: "it always leaves one bin of each feature out",
  encryption: "it has no obfuscators",
} as const satisfies Record<keyof typeof speedParameters, string>;

export function latticeConflicts({ keyBitsGiven, codec, speed }: GivenOptions): readonly Conflict[] {
  const names = Object.keys(speedAdvice) as (keyof typeof speedAdvice)[];
  const changed = names.filter((name) => speed[name] !== speedParameters[name].default);
  return [
    ...(keyBitsGiven === null ? [] : [conflict([keyBitsGiven], "it has no key of some length")]),
    ...(codec.layout === "auto" ? [] : [conflict(["codec", "layout"], "it needs layout auto")]),
    ...(codec.codec === "batched" ? [] : [conflict(["codec", "codec"], "it needs codec batched")]),
    ...(codec.padding === codecParameters.padding.default
      ? []
      : [conflict(["codec", "padding"], "its sums have no slots that overflow into each other")]),
    ...changed.map((name) => conflict(["speed", name], speedAdvice[name])),
  ];
}

function conflict(field: readonly string[], why: string): Conflict {
  return { field, advice: `does not go with the lattice scheme: ${why}. Leave it out, or use scheme paillier` };
}
