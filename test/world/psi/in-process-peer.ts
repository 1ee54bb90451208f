/** A passive party's PSI in the same process, as a peer. */
import type { PsiAnswer, PsiOffer, PsiPeer } from "../../../src/psi/psi-peer.ts";
import type { PassivePsi } from "../../../src/psi/passive-psi.ts";

export class InProcessPeer implements PsiPeer {
  readonly name: string;
  readonly #alignment: PassivePsi;
  #rows: Uint32Array | null = null;

  constructor(name: string, alignment: PassivePsi) {
    this.name = name;
    this.#alignment = alignment;
  }

  get boundTo(): string {
    return this.#alignment.boundTo;
  }

  /** The passive party's aligned rows, once it has accepted them. */
  get rows(): Uint32Array | null {
    return this.#rows;
  }

  async begin(offer: PsiOffer): Promise<PsiAnswer> {
    return this.#alignment.begin(offer);
  }

  remask(points: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
    return this.#alignment.remask(points);
  }

  maskedIds(): AsyncIterable<Uint8Array> {
    return this.#alignment.maskedIds();
  }

  async accept(commonCount: number, positions: AsyncIterable<Uint32Array>): Promise<void> {
    this.#rows = await this.#alignment.accept(commonCount, positions);
  }
}
