/** Digests of messages as they are encoded, whatever fields they have. */
import { createHash, type Hash } from "node:crypto";
import { create, type DescMessage, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import {
  type ActiveGradientsSchema,
  ActiveHelloSchema,
  ActiveHiddenSplitsSchema,
  ActiveNodeSchema,
  PassiveHistogramsSchema,
} from "../../wire/generated/tandem/v1/tandem_pb.ts";

export function digestOf(bytes: Uint8Array): Uint8Array {
  return Uint8Array.from(createHash("sha256").update(bytes).digest());
}

export function encoded<D extends DescMessage>(schema: D, message: MessageInitShape<D>): Uint8Array {
  return toBinary(schema, create(schema, message));
}

export function messageDigest<D extends DescMessage>(schema: D, message: MessageInitShape<D>): Uint8Array {
  return digestOf(encoded(schema, message));
}

/** What of a hello decides the messages of a job; not where an attempt begins, nor whose rows these are. */
export function termsDigest(hello: MessageInitShape<typeof ActiveHelloSchema>): Uint8Array {
  const { parameters, instanceCount = 0, idsDigest = none, validationRows = none } = hello;
  const terms = { instanceCount, idsDigest, validationRows, ...(parameters === undefined ? {} : { parameters }) };
  return messageDigest(ActiveHelloSchema, terms);
}

const none = new Uint8Array(0);

/** Who is sampled in a round, and of how many columns trees are drawn, where that is not as agreed. */
export function roundDigest({
  sampled = none,
  colsampleBytree: rate = 0,
}: Pick<MessageInitShape<typeof ActiveGradientsSchema>, "sampled" | "colsampleBytree">): Uint8Array {
  const rates = rate === 0 ? none : new Uint8Array(Float64Array.of(rate).buffer);
  return digestOf(Buffer.concat([sampled, rates]));
}

/** One after the other, each by its own digest. */
class Parts {
  readonly #hash: Hash = createHash("sha256");

  add(digest: Uint8Array): void {
    this.#hash.update(digest);
  }

  digest(): Uint8Array {
    return Uint8Array.from(this.#hash.digest());
  }
}

/** Chunks are made once and sent to several parties: each is hashed once. */
const chunkDigests = new WeakMap<Uint8Array, Uint8Array>();

function chunkDigest(chunk: Uint8Array): Uint8Array {
  const digest = chunkDigests.get(chunk) ?? digestOf(chunk);
  chunkDigests.set(chunk, digest);
  return digest;
}

/** A round's gradients: all chunks in their order. */
export class GradientDigest {
  readonly #parts = new Parts();

  add(scheme: Uint8Array): void {
    this.#parts.add(chunkDigest(scheme));
  }

  digest(): Uint8Array {
    return this.#parts.digest();
  }
}

/**
 * A node's request. Where a node has gradients of its own, in as many messages as they take, these are left out: nobody
 * can make them again, and digests of megabytes per node would take longer than anything else.
 */
export class NodeDigest {
  readonly #parts = new Parts();
  #isAlone = true;
  #alone: Uint8Array | null = null;

  add(request: MessageInitShape<typeof ActiveNodeSchema>): void {
    const { more = false } = request;
    this.#isAlone &&= !more && this.#alone === null;
    if (this.#isAlone) this.#alone = messageDigest(ActiveNodeSchema, request);
    else this.#parts.add(messageDigest(ActiveNodeSchema, { ...request, scheme: new Uint8Array(0) }));
  }

  digest(): Uint8Array {
    return this.#isAlone && this.#alone !== null ? this.#alone : this.#parts.digest();
  }
}

/** A node's answer: what is computed anew, and the ciphertexts beside it. */
export class AnswerDigest {
  readonly #answer = new Parts();
  readonly #sums = new Parts();

  add(piece: MessageInitShape<typeof PassiveHistogramsSchema>): void {
    const { scheme = new Uint8Array(0), ...others } = piece;
    this.#answer.add(messageDigest(PassiveHistogramsSchema, { ...others, scheme: new Uint8Array(0) }));
    this.#sums.add(digestOf(scheme));
  }

  digests(): { readonly answer: Uint8Array; readonly sums: Uint8Array } {
    return { answer: this.#answer.digest(), sums: this.#sums.digest() };
  }
}

/** Whom outcomes are wanted of, where these are hidden: all that follows the decisions of one call. */
export class ChoicesDigest {
  readonly #parts = new Parts();

  add(message: MessageInitShape<typeof ActiveHiddenSplitsSchema>): void {
    this.#parts.add(messageDigest(ActiveHiddenSplitsSchema, message));
  }

  digest(): Uint8Array {
    return this.#parts.digest();
  }
}

/** Of the orders that are told in one call, node by node, wherever messages are cut. */
export class OrderDigests {
  readonly #ranks = new Map<number, number[][]>();

  add({ node = 0, ranks = [] }: { readonly node?: number; readonly ranks?: number[] }): void {
    const told = this.#ranks.get(node);
    if (told === undefined) this.#ranks.set(node, [ranks]);
    else told.push(ranks);
  }

  digests(): Map<number, Uint8Array> {
    const digests = new Map<number, Uint8Array>();
    for (const [node, ranks] of this.#ranks)
      digests.set(node, digestOf(Buffer.from(Uint32Array.from(ranks.flat()).buffer)));
    return digests;
  }
}
