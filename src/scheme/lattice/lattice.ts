/** Entry point of the lattice scheme: its parameters and its halves. Experimental (docs/lattice.md). */
import { availableParallelism } from "node:os";
import { TandemError } from "../../base/error.ts";
import { latticeSets } from "../../crypto/lattice/parameters/sets.ts";
import { selectLatticeKernel } from "../../crypto/lattice/select-kernel.ts";
import type { HiddenScheme, SchemeSecret } from "../scheme.ts";
import { LatticeActive, latticePlaintextBits } from "./active.ts";
import { LatticeBlock } from "./block.ts";
import { latticeConflicts } from "./conflicts.ts";
import { latticeCosts } from "./cost-model.ts";
import { latticeCodec } from "./job-resolution.ts";
import { LatticePassive } from "./passive.ts";
import { latticeSchemeName } from "./scheme-name.ts";

/** No secret outlives an attempt: each is used for one node. */
const nothing: SchemeSecret = { scheme: latticeSchemeName, serialise: () => latticeSchemeName };

export const lattice: HiddenScheme = {
  name: latticeSchemeName,
  membership: "hidden",
  parameters: () => ({}),
  conflicts: latticeConflicts,
  codecFor: latticeCodec,
  kernelName: () => selectLatticeKernel().name,
  describe: () => `lattices (at least ${Math.floor(latticeSets.A.security)} bits of security; experimental)`,
  warning: () => "The lattice scheme is experimental: it has not had an external review.",
  violations: (parameters) =>
    Object.keys(parameters).length > 0 ? ["scheme: unknown parameters for the lattice scheme"] : [],
  plaintextBitsMax: () => latticePlaintextBits,
  sizes: (_parameters, { slots }) => {
    const { groups, recordBytes } = latticeSets.A;
    return {
      ciphertextBytes: recordBytes / groups,
      ciphertextsPerInstance: slots.length,
      sumsPerCiphertext: 1,
      plaintextBitsMax: latticePlaintextBits,
    };
  },
  makeSecret: async () => nothing,
  readSecret: async (text) => {
    if (text !== latticeSchemeName) throw new TandemError("KEY_FORMAT", "not a secret of the lattice scheme");
    return nothing;
  },
  active: (_secret, { threads }) => new LatticeActive(selectLatticeKernel(), threads ?? availableParallelism()),
  passive: ({ threads, crew }) =>
    new LatticePassive(selectLatticeKernel(), threads ?? availableParallelism(), { crew }),
  block: (data, { threads }) => new LatticeBlock(selectLatticeKernel(), data, threads ?? availableParallelism()),
  costModel: () => latticeCosts(selectLatticeKernel()),
};
