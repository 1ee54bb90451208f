/** The message format of a replay: a number, and a table of doubles. */
import { TandemError } from "../../base/error.ts";

export function clearMessage(head: number, values: Float64Array): Uint8Array {
  const message = new Float64Array(1 + values.length);
  message[0] = head;
  message.set(values, 1);
  return new Uint8Array(message.buffer);
}

/** @throws TandemError PROTOCOL_STATE */
export function fromClearMessage(bytes: Uint8Array): { readonly head: number; readonly values: Float64Array } {
  if (bytes.length === 0 || bytes.length % 8 !== 0)
    throw new TandemError("PROTOCOL_STATE", "not a message of a replay");
  const [head, ...values] = new Float64Array(bytes.slice().buffer);
  return { head, values: Float64Array.from(values) };
}
