/** Entry point of the curve scheme: its parameters and its halves (docs/curve.md). */
import { TandemError } from "../../base/error.ts";
import { osRandom } from "../../base/random.ts";
import { pointBytes } from "../../crypto/curve/kernel.ts";
import { curveSeedBytes } from "../../crypto/curve/secrets.ts";
import { selectCurveKernel } from "../../crypto/curve/select-kernel.ts";
import { defaultThreads } from "../../crypto/paillier/select-kernel.ts";
import type { SchemeSecret, SentScheme } from "../scheme.ts";
import { CurveActive, curvePlaintextBits } from "./active.ts";
import { CurveBlock } from "./block.ts";
import { curveConflicts } from "./conflicts.ts";
import { curveCosts, curveHeldBytes } from "./cost-model.ts";
import { CurvePassive } from "./passive.ts";
import { curveCodec } from "./range.ts";
import { CurveReplay } from "./replay.ts";
import { curveSchemeName } from "./scheme-name.ts";

/** All secrets follow from the seeds of the job. */
const nothing: SchemeSecret = { scheme: curveSchemeName, serialise: () => curveSchemeName };

export const curve: SentScheme = {
  name: curveSchemeName,
  membership: "sent",
  parameters: () => ({}),
  conflicts: curveConflicts,
  codecFor: curveCodec,
  kernelName: () => selectCurveKernel().name,
  describe: () => "edwards25519 (ElGamal, about 126 bits of security)",
  warning: () => null,
  violations: (parameters) =>
    Object.keys(parameters).length > 0 ? ["scheme: unknown parameters for the curve scheme"] : [],
  plaintextBitsMax: () => curvePlaintextBits,
  sizes: (_parameters, { slots }) => ({
    ciphertextBytes: pointBytes,
    ciphertextsPerInstance: slots.length,
    sumsPerCiphertext: 1,
    plaintextBitsMax: curvePlaintextBits,
  }),
  heldBytes: (layout, { rows }) => curveHeldBytes(layout, rows),
  makeSecret: async () => nothing,
  readSecret: async (text) => {
    if (text !== curveSchemeName) throw new TandemError("KEY_FORMAT", "not a secret of the curve scheme");
    return nothing;
  },
  active: (_secret, { threads = defaultThreads(), seed = drawnSeed(), shortcuts }) =>
    new CurveActive(selectCurveKernel(), threads, seed, shortcuts),
  passive: ({ threads = defaultThreads(), seed = drawnSeed(), crew }) =>
    new CurvePassive(selectCurveKernel(), threads, seed, crew),
  block: (data, { threads }) => new CurveBlock(selectCurveKernel(), data, threads ?? defaultThreads()),
  replay: (_secret, { threads = defaultThreads(), seed = drawnSeed() }) =>
    new CurveReplay(new CurveActive(selectCurveKernel(), threads, seed)),
  costModel: () => curveCosts(selectCurveKernel()),
};

function drawnSeed(): Uint8Array {
  return osRandom.fill(new Uint8Array(curveSeedBytes));
}
