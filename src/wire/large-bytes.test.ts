import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { LatticeNodeSchema } from "./generated/tandem/v1/lattice_pb.ts";
import { ActiveNodeSchema, PassiveHistogramsSchema } from "./generated/tandem/v1/tandem_pb.ts";
import { bytesFieldHeader, encodedPieces } from "./large-bytes.ts";

const bytes = Uint8Array.from({ length: 20_000 }, (_, i) => i % 251);

test("a large field is not copied, and the message is the same", () => {
  const message = create(ActiveNodeSchema, { tree: 3, node: 4, scheme: bytes, more: true, members: { parent: 1 } });
  const pieces = encodedPieces(ActiveNodeSchema, message);
  expect(pieces.length).toBe(2);
  expect(pieces[1]).toBe(bytes);
  expect(fromBinary(ActiveNodeSchema, new Uint8Array(Buffer.concat(pieces)))).toEqual(message);
  expect(message.scheme).toBe(bytes);
});

test("small fields are encoded as usual", () => {
  const message = create(PassiveHistogramsSchema, { tree: 3, counts: [1, 2], scheme: bytes.subarray(0, 100) });
  expect(encodedPieces(PassiveHistogramsSchema, message)).toEqual([toBinary(PassiveHistogramsSchema, message)]);
});

test.each([0, 1, 127, 128, 16_384, 20_000])("a field's header for %i bytes is that of the encoder", (length) => {
  const records = bytes.subarray(0, length);
  const encoded = toBinary(LatticeNodeSchema, create(LatticeNodeSchema, { records }));
  const made = Buffer.concat([bytesFieldHeader(LatticeNodeSchema.field.records.number, length), records]);
  expect(new Uint8Array(made)).toEqual(length === 0 ? Uint8Array.of(26, 0) : encoded);
});
