/** Passes the messages of a call through its recorder, at either party. */
import { create, type DescMessage, type DescMethod, type MessageInitShape } from "@bufbuild/protobuf";
import { type ClosedGradients, noBytes, type Note, type Recorder } from "../../messages/call.ts";
import { type EntryKind, factsOf } from "../../messages/table.ts";
import type { AnyCall, Messages } from "../../wire/every-call.ts";
import { splitKey } from "../split-key.ts";
import { digests } from "./digests.ts";
import { encodeEntries } from "./entries.ts";
import type { GradientsSignature, NodeAnswer } from "./record.ts";

/** A recorder takes the messages of its own call. TypeScript cannot follow names that are read from a descriptor. */
export type AnyRecorder = Recorder<unknown, unknown, EntryKind>;

/** @returns null if the call leaves nothing in the chain */
export function recorderOf(method: DescMethod, keepsPieces: boolean): AnyRecorder | null {
  const { recorder } = factsOf(method);
  return recorder === undefined ? null : (recorder({ digests, keepsPieces }) as AnyRecorder);
}

/**
 * A call whose messages pass its recorder, each of them whole.
 * @param watch.noted called with its entries when it has succeeded, before the caller sees the end
 * @param watch.closes called with the message that completes gradients; returns what is passed on instead
 * @param watch.answers the same with the message that completes a node's answer
 */
export async function* recordedCall<More>(
  call: AnyCall<More>,
  [method, requests, more]: Parameters<AnyCall<More>>,
  recorder: AnyRecorder,
  { noted, closes, answers }: CallWatch,
): AsyncGenerator {
  /** By node the entries that its request was signed with. */
  const before = new Map<string, Uint8Array>();
  const sent = eachWhole(method.input, requests, async (message) => {
    recorder.request?.(message);
    const closed = recorder.closed?.(message) ?? null;
    if (closed === null) return message;
    const signed = await closes(closed, message);
    if (closed.node !== null) before.set(splitKey(closed.tree, closed.node), signed.entries ?? noBytes);
    return signed;
  });
  yield* eachWhole(method.output, call(method, sent, more), (message) => {
    recorder.answer?.(message);
    const answer = recorder.answered?.(message) ?? null;
    if (answer === null) return message;
    const { tree, node, notes } = answer;
    return answers(
      { tree, node, before: before.get(splitKey(tree, node)) ?? noBytes, entries: encodeEntries(notes) },
      message,
    );
  });
  noted(recorder.notes());
}

export interface CallWatch {
  noted(notes: readonly Note<EntryKind>[]): void;
  closes(closed: ClosedGradients, message: unknown): GradientsSignature | Promise<GradientsSignature>;
  answers(answer: NodeAnswer, message: unknown): unknown;
}

export async function* eachWhole(
  schema: DescMessage,
  messages: Messages,
  take: (message: unknown) => unknown,
): AsyncGenerator {
  for await (const each of messages) yield await take(create(schema, each as MessageInitShape<DescMessage>));
}
