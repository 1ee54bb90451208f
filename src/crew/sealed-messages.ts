/** Messages of crew.proto under a seal: whoever opens one knows that it is the crew's, of this epoch and subject. */
import { create, type DescMessage, type MessageInitShape, type MessageShape } from "@bufbuild/protobuf";
import { TandemError } from "../base/error.ts";
import { encodedPieces } from "../wire/large-bytes.ts";
import { decodeMessage } from "../wire/scheme-message.ts";
import type { Seal } from "./seal.ts";

export class SealedMessages {
  readonly #seal: Seal;

  constructor(seal: Seal) {
    this.#seal = seal;
  }

  seal<D extends DescMessage>(schema: D, subject: string, message: MessageInitShape<D>): Uint8Array {
    return this.#seal.seal(subject, ...encodedPieces(schema, create(schema, message)));
  }

  /** @returns null for what is not the crew's: the engine, or somebody else at it, may put anything there */
  open<D extends DescMessage>(schema: D, subject: string, sealed: Uint8Array): MessageShape<D> | null {
    try {
      return decodeMessage(schema, this.#seal.open(subject, sealed));
    } catch (error) {
      if (error instanceof TandemError && (error.code === "SEAL_BROKEN" || error.code === "PROTOCOL_STATE"))
        return null;
      throw error;
    }
  }
}

/** A seal per epoch; the board has one of its own. */
export type SealOf = (epoch: string) => Seal;

export const boardSeal = "board";

/** Bytes of one message, about: a server takes a megabyte, seal and head included. */
export const partBytes = 512 << 10;

/** Cuts what is too long for one message; what is empty is one part. */
export function* cut(bytes: Uint8Array, size = partBytes): Generator<Uint8Array> {
  for (let at = 0; at < Math.max(1, bytes.length); at += size) yield bytes.subarray(at, at + size);
}
