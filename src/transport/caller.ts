/**
 * The caller of a handler: the pinned active party of a connection, authenticated by TLS, and when that connection
 * ends. Handlers read it from the context of a call. In memory there is one caller without a name, whose connection
 * never ends.
 */
import { createContextKey, type HandlerContext } from "@connectrpc/connect";

export interface Caller {
  /** The name under which the certificate is pinned, not the one that the caller sends. */
  readonly name: string;
  readonly fingerprint: string;
  /** Aborted when the connection closes. */
  readonly gone: AbortSignal;
}

const inMemory: Caller = { name: "", fingerprint: "", gone: new AbortController().signal };

export const callerKey = createContextKey<Caller>(inMemory, { description: "the calling party" });

export function callerOf(context: HandlerContext): Caller {
  return context.values.get(callerKey);
}
