/** Arrays of numbers as exact text: base64 of their bytes, little-endian as on every platform of Node. */

export function toBase64(values: Uint8Array | Uint16Array | Uint32Array | Float64Array): string {
  return Buffer.from(values.buffer, values.byteOffset, values.byteLength).toString("base64");
}

/** A multiple of three, so that base64 pieces can be concatenated. */
const pieceBytes = 3 << 18;

/** toBase64 in pieces: for many rows the whole text would exceed a hundred megabytes. */
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
