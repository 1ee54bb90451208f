/** Big numbers in key messages: unsigned, big-endian, without leading zero bytes. */
export function bigEndianBytes(value: bigint): Uint8Array {
  const hex = value.toString(16);
  return Uint8Array.from(Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, "hex"));
}

export function bigEndianNumber(bytes: Uint8Array): bigint {
  return bytes.length === 0 ? 0n : BigInt(`0x${Buffer.from(bytes).toString("hex")}`);
}
