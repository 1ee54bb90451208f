/** Bytes that may be longer than a message: sent in several, of which all but the last say that more follow. */
import { chunkBytes } from "./version.ts";

export interface Piece {
  readonly more: boolean;
  readonly scheme: Uint8Array;
}

/** At least one piece. */
export function* piecesOf(bytes: Uint8Array): Generator<Piece> {
  for (let at = 0; at === 0 || at < bytes.length; at += chunkBytes)
    yield { more: at + chunkBytes < bytes.length, scheme: bytes.subarray(at, at + chunkBytes) };
}

/** Puts pieces together. */
export class Pieces {
  readonly #bytesMax: number;
  #pieces: Uint8Array[] = [];
  #length = 0;

  /** @param bytesMax longer than any that is expected */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** @returns the whole after its last piece; null before; undefined if there are too many bytes */
  add({ more, scheme }: Piece): Uint8Array | null | undefined {
    this.#length += scheme.length;
    if (this.#length > this.#bytesMax || (more && scheme.length === 0)) return undefined;
    this.#pieces.push(scheme);
    if (more) return null;
    const whole = this.#pieces.length === 1 ? scheme : Buffer.concat(this.#pieces);
    this.#pieces = [];
    this.#length = 0;
    return whole;
  }
}
