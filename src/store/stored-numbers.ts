/** Arrays of numbers as text, exactly: base64 of their bytes, little-endian as on every machine that Node runs on. */

export function textOf(values: Uint8Array | Uint16Array | Uint32Array | Float64Array): string {
  return Buffer.from(values.buffer, values.byteOffset, values.byteLength).toString("base64");
}

/** A multiple of three: pieces of base64 can be put together. */
const pieceBytes = 3 << 18;

/** textOf in pieces: of many rows the whole would be a text of a hundred megabytes and more. */
export function* textPieces(values: Uint32Array | Float64Array): Generator<string> {
  const bytes = Buffer.from(values.buffer, values.byteOffset, values.byteLength);
  for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.toString("base64", at, at + pieceBytes);
}

export function bytesFrom(text: string): Uint8Array {
  return Uint8Array.from(Buffer.from(text, "base64"));
}

export function rowsFrom(text: string): Uint32Array {
  return new Uint32Array(wholeElements(text, 4));
}

export function doublesFrom(text: string): Float64Array {
  return new Float64Array(wholeElements(text, 8));
}

function wholeElements(text: string, size: number): ArrayBuffer {
  const bytes = bytesFrom(text);
  return bytes.buffer.slice(0, bytes.length - (bytes.length % size)) as ArrayBuffer;
}

export function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}

export function fromHex(text: string): Uint8Array {
  return Uint8Array.from(Buffer.from(text, "hex"));
}
