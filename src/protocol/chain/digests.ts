/** SHA-256 of bytes, and of messages of a job as they are encoded. */
import { createHash, hash } from "node:crypto";
import { type DescMessage, toBinary } from "@bufbuild/protobuf";
import type { Digests } from "../../messages/call.ts";
import { PassiveParty } from "../../wire/generated/tandem/v1/tandem_pb.ts";

const schemas: ReadonlyMap<string, DescMessage> = new Map(
  PassiveParty.file.messages.map((schema) => [schema.typeName, schema]),
);

/** Chunks of gradients are sent to several parties: each is hashed once. */
const sharedDigests = new WeakMap<Uint8Array, Uint8Array>();

/** From Node 20.12 on: most digests are of few bytes, and an object for each costs more than the hash. */
const oneShot: typeof hash | undefined = hash;

function sha256(bytes: Uint8Array): Uint8Array {
  const digest = oneShot?.("sha256", bytes, "buffer") ?? createHash("sha256").update(bytes).digest();
  return new Uint8Array(digest.buffer, digest.byteOffset, digest.length);
}

export const digests: Digests = {
  bytes(...pieces) {
    return sha256(pieces.length === 1 ? pieces[0] : Buffer.concat(pieces));
  },
  shared(bytes) {
    const digest = sharedDigests.get(bytes) ?? digests.bytes(bytes);
    sharedDigests.set(bytes, digest);
    return digest;
  },
  message: (message) => digests.bytes(digests.encoded(message)),
  encoded(message) {
    const schema = schemas.get(message.$typeName);
    if (schema === undefined) throw new RangeError(`${message.$typeName} is not a message of a job`);
    return toBinary(schema, message);
  },
};
