/** Passes the messages of a call through its recorder, at either party. */
import { create, type DescMessage, type DescMethod, type MessageInitShape } from "@bufbuild/protobuf";
import type { ClosedGradients, Note, Recorder } from "../../messages/call.ts";
import { type EntryKind, factsOf } from "../../messages/table.ts";
import type { AnyCall, Messages } from "../../wire/every-call.ts";
import { digests } from "./digests.ts";

/** A recorder takes the messages of its own call. TypeScript cannot follow names that are read from a descriptor. */
export type AnyRecorder = Recorder<unknown, unknown, EntryKind>;

/** @returns null if the call leaves nothing in the chain */
export function recorderOf(method: DescMethod, keepsPieces: boolean): AnyRecorder | null {
  const { recorder } = factsOf(method);
  return recorder === undefined ? null : (recorder({ digests, keepsPieces }) as AnyRecorder);
}

/**
 * A call whose messages pass its recorder, each of them whole.
 * @param noted called with its entries when it has succeeded, before the caller sees the end
 * @param closes called with the message that completes gradients; returns what is passed on instead
 */
export async function* recordedCall<More>(
  call: AnyCall<More>,
  [method, requests, more]: Parameters<AnyCall<More>>,
  recorder: AnyRecorder,
  noted: (notes: readonly Note<EntryKind>[]) => void,
  closes: (closed: ClosedGradients, message: unknown) => unknown,
): AsyncGenerator {
  const sent = eachWhole(method.input, requests, (message) => {
    recorder.request?.(message);
    const closed = recorder.closed?.(message) ?? null;
    return closed === null ? message : closes(closed, message);
  });
  yield* eachWhole(method.output, call(method, sent, more), (message) => {
    recorder.answer?.(message);
    return message;
  });
  noted(recorder.notes());
}

export async function* eachWhole(
  schema: DescMessage,
  messages: Messages,
  take: (message: unknown) => unknown,
): AsyncGenerator {
  for await (const each of messages) yield take(create(schema, each as MessageInitShape<DescMessage>));
}
