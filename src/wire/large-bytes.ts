/**
 * Encodes messages that consist mostly of one bytes field, without copying that field. Protobuf allows fields in any
 * order.
 */
import { type DescMessage, type Message, type MessageShape, ScalarType, toBinary } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";

/** Below this a copy is cheaper than a separate piece. */
const largeBytes = 1 << 14;

/** The tag and length that precede a bytes field. */
export function bytesFieldHeader(field: number, length: number): Uint8Array {
  return new BinaryWriter().tag(field, WireType.LengthDelimited).uint32(length).finish();
}

/** The encoding of a message, in one or two pieces; the second one is the large field itself. */
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
