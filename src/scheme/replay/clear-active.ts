/** The active half of a replay: it says at set-up what the real one says, and sends gradients as they are. */
import type { QuantisedGradients } from "../../base/gradients/quantised-gradients.ts";
import type { GradientLayout } from "../../codec/layout.ts";
import {
  type ActiveScheme,
  type ActiveSchemeJob,
  type GradientChunk,
  noOperations,
  type ReplayedRound,
} from "../scheme.ts";
import { clearMessage, fromClearMessage } from "./clear-message.ts";

const instancesPerChunk = 4096;

type RealActive = Pick<ActiveScheme, "name" | "parameters" | "plaintextBitsMax" | "node"> & {
  setUp(job: Pick<ActiveSchemeJob, "layout">): Promise<Uint8Array>;
};

export class ClearActive implements ActiveScheme {
  readonly counts = noOperations();
  readonly hidden = null;
  /** What the round under way was begun with. */
  round: ReplayedRound | null = null;
  readonly #real: RealActive;

  constructor(real: RealActive) {
    this.#real = real;
  }

  get name() {
    return this.#real.name;
  }

  get parameters() {
    return this.#real.parameters;
  }

  get plaintextBitsMax() {
    return this.#real.plaintextBitsMax;
  }

  setUp(job: Pick<ActiveSchemeJob, "layout">): Promise<Uint8Array> {
    return this.#real.setUp(job);
  }

  async *gradients(
    layout: GradientLayout,
    gradients: QuantisedGradients,
    sample: Uint32Array | null,
  ): AsyncGenerator<GradientChunk> {
    this.round = { layout, gradients, sample };
    const { columns, instanceCount } = gradients;
    const instances = sample ?? Uint32Array.from({ length: instanceCount }, (_, i) => i);
    for (let first = 0; first < instances.length; first += instancesPerChunk) {
      const chunk = instances.subarray(first, first + instancesPerChunk);
      const values = new Float64Array(chunk.length * columns.length);
      chunk.forEach((instance, i) =>
        columns.forEach((column, c) => (values[i * columns.length + c] = column[instance])),
      );
      yield { message: clearMessage(columns.length, values), ciphertexts: 0 };
    }
  }

  expectTree(): void {}

  node(node: number): Uint8Array {
    return this.#real.node(node);
  }

  async sums(_layout: GradientLayout, message: Uint8Array): Promise<Float64Array> {
    return fromClearMessage(message).values;
  }

  close(): void {}
}
