/** The active half of a replay: its set-up message is the real one, and gradients are sent in the clear. */
import type { QuantisedGradients } from "../../base/gradients/quantised-gradients.ts";
import type { GradientLayout } from "../../codec/layout.ts";
import { type GradientChunk, noOperations } from "../scheme.ts";
import type { ReplayedRound, SentActive } from "../sent-scheme.ts";
import { clearMessage, fromClearMessage } from "./clear-message.ts";

const instancesPerChunk = 4096;

type RealActive = Pick<SentActive, "name" | "parameters" | "plaintextBitsMax" | "setUp">;

export class ClearActive implements SentActive {
  readonly counts = noOperations();
  readonly membership = "sent";
  /** The gradients of the current round. */
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

  setUp(job: { readonly layout: GradientLayout }): Promise<Uint8Array> {
    return this.#real.setUp(job);
  }

  async *gradients(
    layout: GradientLayout,
    gradients: QuantisedGradients,
    sample: Uint32Array | null,
    serial: number,
  ): AsyncGenerator<GradientChunk> {
    this.round = { layout, gradients, sample, serial };
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

  async sums(_layout: GradientLayout, message: Uint8Array): Promise<Float64Array> {
    return fromClearMessage(message).values;
  }
}
