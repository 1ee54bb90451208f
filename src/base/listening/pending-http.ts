/**
 * Limits HTTP connections that have not authenticated yet. An incomplete request holds a connection for seconds and
 * never keeps another client out; a connection whose request has shown its token is no longer limited.
 */
import type { IncomingMessage, ServerOptions } from "node:http";
import type { Server } from "node:net";
import { PendingConnections, type PendingLimits } from "./pending-connections.ts";

/** Node's own timeouts close connections whose request does not end. */
const unauthenticated: PendingLimits = { connectionsMax: 512, perAddressMax: 256, authenticateMsMax: 0 };

/** Short timeouts for unauthenticated requests, checked every second instead of Node's 30 s. */
export function requestTimeouts(requestMs: number): ServerOptions {
  return { headersTimeout: 5000, requestTimeout: requestMs, connectionsCheckingInterval: 1000 };
}

export interface PendingHttp {
  /** The request is authenticated: its connection may stay. */
  admit(request: IncomingMessage): void;
}

/** @param admittedMax connections besides the pending ones */
export function limitPendingHttp(server: Server, admittedMax: number): PendingHttp {
  const pending = new PendingConnections(unauthenticated);
  // Above our own limit: Node's would refuse new connections, where PendingConnections drops the oldest.
  server.maxConnections = admittedMax + 2 * unauthenticated.connectionsMax;
  server.prependListener("connection", (socket) => pending.add(socket));
  return { admit: (request) => void pending.remove(request.socket) };
}
