/** The toy scheme's only message: a number, and a table of doubles. */
import { TandemError } from "../../../src/base/error.ts";

export interface ToyMessage {
  readonly head: number;
  readonly values: Float64Array;
}

export function toyMessage(head: number, values: Float64Array = new Float64Array(0)): Uint8Array {
  return new Uint8Array(Float64Array.of(head, ...values).buffer);
}

/** @throws TandemError PROTOCOL_STATE */
export function fromToyMessage(bytes: Uint8Array): ToyMessage {
  if (bytes.length === 0 || bytes.length % 8 !== 0) throw new TandemError("PROTOCOL_STATE", "no toy message");
  const [head, ...values] = new Float64Array(bytes.slice().buffer);
  return { head, values: Float64Array.from(values) };
}
