/**
 * Replays a curve job for an auditor who has its seed: gradients and sums are computed in the clear, divided into the
 * same messages, and compared with what was encrypted in the job itself.
 */
import { assert } from "../../base/assert.ts";
import type { QuantisedGradients } from "../../base/gradients/quantised-gradients.ts";
import type { GradientLayout } from "../../codec/layout.ts";
import { pointBytes } from "../../crypto/curve/kernel.ts";
import { CurveSetUpSchema } from "../../wire/generated/tandem/v1/curve_pb.ts";
import { decodeMessage } from "../../wire/scheme-message.ts";
import { ClearActive } from "../replay/clear-active.ts";
import { ClearPassive } from "../replay/clear-passive.ts";
import type { SchemeReplay } from "../sent-scheme.ts";
import type { CurveActive } from "./active.ts";
import { candidatesPerPiece } from "./passive.ts";

export class CurveReplay implements SchemeReplay {
  readonly active: ClearActive;
  /** A candidate's base is sent as well. */
  readonly sumBytesMax = 2 * pointBytes;
  readonly #real: CurveActive;

  constructor(real: CurveActive) {
    this.#real = real;
    this.active = new ClearActive(real);
  }

  passive(): ClearPassive {
    return new ClearPassive((setUp) => candidatesPerPiece(decodeMessage(CurveSetUpSchema, setUp).valuesPerInstance));
  }

  async isSetUp(message: Uint8Array, layout: GradientLayout): Promise<boolean> {
    return Buffer.compare(message, await this.#real.setUp({ layout })) === 0;
  }

  async *remade(
    layout: GradientLayout,
    gradients: QuantisedGradients,
    sample: Uint32Array | null,
    serial: number,
  ): AsyncGenerator<Uint8Array> {
    for await (const { message, isOfBases = false } of this.#real.gradients(layout, gradients, sample, serial))
      if (!isOfBases) yield message;
  }

  opened(_layout: GradientLayout, message: Uint8Array, counts: readonly number[]): Promise<Float64Array> {
    const { round } = this.active;
    assert(round !== null, "answers belong to a round");
    return this.#real.sumsOf(round, message, counts);
  }

  close(): void {
    this.#real.close();
  }
}
