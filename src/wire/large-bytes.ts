/**
 * Messages of which nearly all is one field of bytes, encoded without copying that field. A reader takes the fields of
 * a message in any order.
 */
import { type DescMessage, type Message, type MessageShape, ScalarType, toBinary } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";

/** Below this a copy is cheaper than a piece of its own. */
const largeBytes = 1 << 14;

/** What stands before a field of bytes: its number and its length. */
export function bytesFieldHeader(field: number, length: number): Uint8Array {
  return new BinaryWriter().tag(field, WireType.LengthDelimited).uint32(length).finish();
}

/** The encoding of a message, in one piece or more; the last of several is a field of it as it is. */
export function encodedPieces<D extends DescMessage>(schema: D, message: MessageShape<D>): readonly Uint8Array[] {
  const values = message as Message & Readonly<Record<string, unknown>>;
  for (const field of schema.fields) {
    if (field.fieldKind !== "scalar" || field.scalar !== ScalarType.BYTES || field.oneof !== undefined) continue;
    const value = values[field.localName];
    if (!(value instanceof Uint8Array) || value.length < largeBytes) continue;
    const others = { ...message, [field.localName]: new Uint8Array(0) };
    return [Buffer.concat([toBinary(schema, others), bytesFieldHeader(field.number, value.length)]), value];
  }
  return [toBinary(schema, message)];
}
