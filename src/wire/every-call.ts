/**
 * Converts between one function for all calls of a service and an object with a method per call. Wrappers of calls
 * (translating errors, waiting for answers, recording messages) are functions of such a function. The calls come from
 * the service's descriptor, so that a call added to proto/ needs no change here.
 */
import type { DescMethod, DescService } from "@bufbuild/protobuf";
import { assert } from "../base/assert.ts";

export type Messages<T = unknown> = AsyncIterable<T>;

/**
 * Any call of a service. A single message is a stream of one, so that all kinds of calls have the same type. `more` is
 * the second argument of a call: options at the client, a context at the server.
 */
export type AnyCall<More> = (method: DescMethod, requests: Messages, more: More) => Messages;

type Method<More> = (request: unknown, more: More) => unknown;

/** An object with all calls of a service, each implemented by `call`. */
export function everyCall<Calls extends object, More>(service: DescService, call: AnyCall<More>): Calls {
  const calls: Record<string, Method<More>> = {};
  for (const method of service.methods) {
    const begin = (request: unknown, more: More): Messages =>
      call(method, takesMany(method) ? (request as Messages) : streamOf(request), more);
    calls[method.localName] = givesMany(method) ? begin : (request, more) => onlyOf(begin(request, more));
  }
  // TypeScript cannot infer types from a descriptor. The caller states the type of the result, which is mapped from the
  // same descriptor.
  return calls as Calls;
}

/**
 * The calls of an object with a method per call: a client or a handler. A method may return a stream, a message or a
 * promise of one; no value stands for the empty message.
 */
export function callsTo<More>(target: object): AnyCall<More> {
  return async function* (method, requests, more) {
    const call = (target as Readonly<Record<string, Method<More>>>)[method.localName].bind(target);
    const answer = call(takesMany(method) ? requests : await onlyOf(requests), more);
    if (isStream(answer)) yield* answer;
    else yield (await answer) ?? {};
  };
}

/**
 * An object with all calls of a service, each bound to the first of these objects that has it.
 * @param missing called for a call that none has
 */
export function callsAmong<Calls extends object>(
  service: DescService,
  handlers: readonly object[],
  missing: (name: string) => never,
): Calls {
  const calls = service.methods.map(({ localName: name }) => {
    const handler = handlers.find((each) => name in each) as Readonly<Record<string, () => unknown>> | undefined;
    return [name, handler === undefined ? () => missing(name) : handler[name].bind(handler)] as const;
  });
  return Object.fromEntries(calls) as Calls;
}

/** A stream with a callback when its reader has taken a message and requests the next one. */
export async function* noted<T>(items: Messages<T>, taken: () => void): AsyncGenerator<T> {
  for await (const item of items) {
    yield item;
    taken();
  }
}

export async function* streamOf<T>(item: T): AsyncGenerator<T> {
  yield item;
}

/** The message of a stream of one, which is read to its end so that wrappers of the call finish. */
export async function onlyOf<T>(items: Messages<T>): Promise<T> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  assert(all.length === 1, "not exactly one message");
  return all[0];
}

function isStream(value: unknown): value is Messages {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}

function takesMany({ methodKind }: DescMethod): boolean {
  return methodKind === "client_streaming" || methodKind === "bidi_streaming";
}

function givesMany({ methodKind }: DescMethod): boolean {
  return methodKind === "server_streaming" || methodKind === "bidi_streaming";
}
