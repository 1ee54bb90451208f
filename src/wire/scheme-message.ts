/** A scheme's own messages: opaque bytes outside the scheme. */
import {
  create,
  type DescMessage,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import { TandemError } from "../base/error.ts";

export function encodeMessage<D extends DescMessage>(schema: D, value: MessageInitShape<D>): Uint8Array {
  return toBinary(schema, create(schema, value));
}

/** @throws TandemError PROTOCOL_STATE naming what was expected */
export function decodeMessage<D extends DescMessage>(schema: D, bytes: Uint8Array): MessageShape<D> {
  try {
    return fromBinary(schema, bytes);
  } catch (cause) {
    throw new TandemError("PROTOCOL_STATE", `a message that is no ${schema.name}`, { cause });
  }
}
