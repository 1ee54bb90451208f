/**
 * Who is calling: the pinned active party behind a connection, as TLS has proven it, and when that connection ends.
 * Handlers read it from the context of a call. In memory there is one nameless caller, whose connection never ends.
 */
import { createContextKey, type HandlerContext } from "@connectrpc/connect";

export interface Caller {
  /** The name under which the certificate is pinned, not what the caller calls itself. */
  readonly name: string;
  readonly fingerprint: string;
  /** Aborted when the connection closes. */
  readonly gone: AbortSignal;
}

const nobody: Caller = { name: "", fingerprint: "", gone: new AbortController().signal };

export const callerKey = createContextKey<Caller>(nobody, { description: "the calling party" });

export function callerOf(context: HandlerContext): Caller {
  return context.values.get(callerKey);
}
