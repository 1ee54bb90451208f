/** Encrypted messages of crew.proto: authentic for the crew, the epoch and the subject. */
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

  /** @returns null for foreign messages: the engine, or another client of it, may deliver anything */
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

/** The encryption of an epoch; the status table has its own. */
export type SealOf = (epoch: string) => Seal;

export const statusSeal = "board";

/** Approximate bytes of one message: a server accepts a megabyte, encryption overhead and header included. */
export const partBytes = 512 << 10;

/** Splits a message that is too long; an empty one has one part. */
export function* cut(bytes: Uint8Array, size = partBytes): Generator<Uint8Array> {
  for (let at = 0; at < Math.max(1, bytes.length); at += size) yield bytes.subarray(at, at + size);
}
