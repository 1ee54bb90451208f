/**
 * Replays a Paillier job for an auditor who has the key: gradients and sums are computed in the clear, divided into the
 * same messages, and compared with what was encrypted in the job itself.
 */
import type { QuantisedGradients } from "../../base/gradients/quantised-gradients.ts";
import type { GradientLayout } from "../../codec/layout.ts";
import { sumPacking } from "../../codec/packing.ts";
import { PaillierSetUpSchema } from "../../wire/generated/tandem/v1/paillier_pb.ts";
import { decodeMessage } from "../../wire/scheme-message.ts";
import { ClearActive } from "../replay/clear-active.ts";
import { ClearPassive } from "../replay/clear-passive.ts";
import type { SchemeReplay } from "../sent-scheme.ts";
import type { PaillierActive } from "./active.ts";
import { ciphertextsPerPiece } from "./passive.ts";

export class PaillierReplay implements SchemeReplay {
  readonly active: ClearActive;
  readonly #real: PaillierActive;

  constructor(real: PaillierActive) {
    this.#real = real;
    this.active = new ClearActive(real);
  }

  passive(): ClearPassive {
    return new ClearPassive((setUp, { keyBits }) => {
      const { packing, plaintextBits } = decodeMessage(PaillierSetUpSchema, setUp);
      return ciphertextsPerPiece * sumPacking(plaintextBits, keyBits, packing).perCiphertext;
    });
  }

  /** These fields determine what is computed; the other fields of a set-up concern the two halves only. */
  async isSetUp(message: Uint8Array, layout: GradientLayout): Promise<boolean> {
    const given = decodeMessage(PaillierSetUpSchema, message);
    const expected = decodeMessage(PaillierSetUpSchema, await this.#real.setUp({ layout }));
    return (
      Buffer.compare(given.modulus, expected.modulus) === 0 &&
      (["ciphertextsPerInstance", "plaintextBits", "packing", "jointBins"] as const).every(
        (field) => given[field] === expected[field],
      )
    );
  }

  get sumBytesMax(): number {
    return this.#real.parameters["keyBits"] / 4;
  }

  async *remade(
    layout: GradientLayout,
    gradients: QuantisedGradients,
    sample: Uint32Array | null,
    serial: number,
  ): AsyncGenerator<Uint8Array> {
    for await (const { message } of this.#real.gradients(layout, gradients, sample, serial)) yield message;
  }

  opened(layout: GradientLayout, message: Uint8Array, counts: readonly number[]): Promise<Float64Array> {
    return this.#real.sums(layout, message, counts);
  }

  close(): void {
    this.#real.close();
  }
}
