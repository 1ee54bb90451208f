/**
 * A scheme without a cipher: gradients travel as they are. It shows that the scheme interface suffices: a new scheme
 * needs no change elsewhere. Nothing but tests may use it.
 */
import { TandemError } from "../../../src/base/error.ts";
import type { QuantisedGradients } from "../../../src/base/gradients/quantised-gradients.ts";
import { columnCount, type GradientLayout } from "../../../src/codec/layout.ts";
import { type GradientChunk, noOperations, type SentScheme } from "../../../src/scheme/scheme.ts";
import type { SentActive } from "../../../src/scheme/sent-scheme.ts";
import { fromToyMessage, toyMessage } from "./message.ts";
import { ToyPassive } from "./passive.ts";

const instancesPerChunk = 32;
const plaintextBitsMax = 1000;
const secret = { scheme: "toy", serialise: () => "toy" };

export const toy: SentScheme = {
  name: "toy",
  membership: "sent",
  parameters: () => ({ plaintextBits: plaintextBitsMax }),
  conflicts: () => [],
  codecFor: (asked) => asked,
  kernelName: () => "none",
  describe: () => "no key at all",
  warning: () => "Nothing is encrypted.",
  violations: ({ plaintextBits }) => (plaintextBits === plaintextBitsMax ? [] : ["scheme: other plaintexts asked"]),
  plaintextBitsMax: () => plaintextBitsMax,
  sizes: (_, layout) => ({
    ciphertextBytes: 8,
    ciphertextsPerInstance: columnCount(layout),
    sumsPerCiphertext: 1,
    plaintextBitsMax,
  }),
  makeSecret: async () => secret,
  readSecret: async (text) => {
    if (text !== "toy") throw new TandemError("KEY_FORMAT", "no secret of the toy scheme");
    return secret;
  },
  active: () => new ToyActive(),
  passive: () => new ToyPassive(),
  costModel: async () => ({
    predict: ({ rows, passives }) => ({
      activeCpuSeconds: 0,
      passiveCpuSeconds: passives.map(() => 0),
      bytes: { activeToPassive: 16 * rows, passiveToActive: 0 },
      memoryBytes: { active: 0, passives: passives.map(() => 0) },
    }),
  }),
};

class ToyActive implements SentActive {
  readonly name = "toy";
  readonly membership = "sent";
  readonly parameters = { plaintextBits: plaintextBitsMax };
  readonly counts = noOperations();
  readonly plaintextBitsMax = plaintextBitsMax;

  async setUp({ layout }: { readonly layout: GradientLayout }): Promise<Uint8Array> {
    return toyMessage(columnCount(layout));
  }

  async *gradients(
    _layout: GradientLayout,
    { columns, instanceCount }: QuantisedGradients,
    sample: Uint32Array | null,
  ): AsyncGenerator<GradientChunk> {
    const instances = sample ?? Uint32Array.from({ length: instanceCount }, (_, i) => i);
    for (let first = 0; first < instances.length; first += instancesPerChunk) {
      const chunk = instances.subarray(first, first + instancesPerChunk);
      const values = Array.from(chunk, (instance) => columns.map((column) => column[instance])).flat();
      this.counts.encryptions += values.length;
      yield { message: toyMessage(first, Float64Array.from(values)), ciphertexts: values.length };
    }
  }

  async sums(layout: GradientLayout, message: Uint8Array, counts: readonly number[]): Promise<Float64Array> {
    const { values } = fromToyMessage(message);
    if (values.length !== counts.length * columnCount(layout)) throw new TandemError("PROTOCOL_STATE", "too few sums");
    this.counts.candidateCiphertexts += values.length;
    this.counts.decryptions += values.length;
    return values;
  }
}
