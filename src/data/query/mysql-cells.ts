/**
 * Values of a MySQL server as the text of cells. Rows come in its binary form, that of prepared statements: its text
 * form has six digits of a FLOAT, which are not the number that is stored.
 */

/** The used part of what mysql2 says of a value. */
export interface MysqlField {
  readonly type: string;
  buffer(): Buffer | null;
}

/** Values that are not read as anything else: spatial ones, vectors. */
const opaqueTypes = new Set(["GEOMETRY", "VECTOR"]);

/** Null is a missing cell. @param read the value as mysql2 reads it: numbers, text, bytes */
export function mysqlCell(field: MysqlField, read: () => unknown): string | null {
  const value = opaqueTypes.has(field.type) ? field.buffer() : read();
  if (value === null || value === undefined) return null;
  if (typeof value === "number") return field.type === "FLOAT" ? float32Text(value) : String(value);
  if (typeof value === "string") return value;
  if (!Buffer.isBuffer(value)) return JSON.stringify(value);
  return field.type === "BIT" ? bitsText(value) : `0x${value.toString("hex").toUpperCase()}`;
}

/** The shortest text that reads back as the same float32: nine digits are always enough. */
function float32Text(value: number): string {
  for (let digits = 6; digits < 9; digits++) {
    const text = String(Number(value.toPrecision(digits)));
    if (Math.fround(Number(text)) === value) return text;
  }
  return String(Number(value.toPrecision(9)));
}

/** A BIT column as a whole number, so that BIT(1) is 1 or 0. */
function bitsText(bytes: Buffer): string {
  return BigInt(`0x${bytes.toString("hex") || "0"}`).toString();
}
