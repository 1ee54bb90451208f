/** SHA-256 of bytes, and of messages of a job as they are encoded. */
import { createHash } from "node:crypto";
import { type DescMessage, toBinary } from "@bufbuild/protobuf";
import type { Digests } from "../../messages/call.ts";
import { PassiveParty } from "../../wire/generated/tandem/v1/tandem_pb.ts";

const schemas: ReadonlyMap<string, DescMessage> = new Map(
  PassiveParty.file.messages.map((schema) => [schema.typeName, schema]),
);

/** Chunks of gradients are sent to several parties: each is hashed once. */
const sharedDigests = new WeakMap<Uint8Array, Uint8Array>();

export const digests: Digests = {
  bytes(...pieces) {
    const hash = createHash("sha256");
    for (const piece of pieces) hash.update(piece);
    return Uint8Array.from(hash.digest());
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
