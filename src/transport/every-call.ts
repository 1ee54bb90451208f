/**
 * The same for every call of a service: forwarding, with something done around each call. The calls come from the
 * service's descriptor, so that a call that is added to proto/ is forwarded without a line here.
 */
import type { DescMethod, DescService } from "@bufbuild/protobuf";

/**
 * What is done around a call. `more` is what a call gets besides its request: options where it is made, a context where
 * it is answered.
 */
export interface Around<More> {
  /** A call with one answer. */
  one(call: () => unknown, method: DescMethod, more: More): Promise<unknown>;
  /** A call with a stream of answers. */
  many(call: () => AsyncIterable<unknown>, method: DescMethod, more: More): AsyncIterable<unknown>;
  /** Called for every message of a call that sends a stream of them. */
  sent?(): void;
}

type AnyCall<More> = (request: unknown, more: More) => unknown;

/**
 * An object with all calls of a service, each of which goes to the method of the same name.
 * @param target the object with that method; asked at every call
 */
export function everyCall<Calls extends object, More>(
  service: DescService,
  target: (method: DescMethod, more: More) => object,
  around: Around<More>,
): Calls {
  const calls: Record<string, AnyCall<More>> = {};
  for (const method of service.methods) {
    const { sent } = around;
    const passed = (request: unknown): unknown =>
      sent !== undefined && isUpload(method) ? noted(request as AsyncIterable<unknown>, sent) : request;
    const forward: AnyCall<More> = (request, more) =>
      (target(method, more) as Record<string, AnyCall<More>>)[method.localName](passed(request), more);
    calls[method.localName] = isStreamed(method)
      ? (request, more) => around.many(() => forward(request, more) as AsyncIterable<unknown>, method, more)
      : (request, more) => around.one(() => forward(request, more), method, more);
  }
  // TypeScript cannot follow names and kinds that are read from a descriptor. Whoever calls this states the types of
  // the target and of the result; both are mapped from the same descriptor.
  return calls as Calls;
}

/** A stream whose reader is heard: it has taken the last message, and wants the next one. */
export async function* noted<T>(items: AsyncIterable<T>, taken: () => void): AsyncGenerator<T> {
  for await (const item of items) {
    yield item;
    taken();
  }
}

function isUpload({ methodKind }: DescMethod): boolean {
  return methodKind === "client_streaming" || methodKind === "bidi_streaming";
}

function isStreamed({ methodKind }: DescMethod): boolean {
  return methodKind === "server_streaming" || methodKind === "bidi_streaming";
}
