/**
 * Connections of an HTTP server whose requests have shown nothing yet wait in a room of few seats. Half a request, or
 * none, then holds a seat for seconds and never keeps anybody out; whoever has shown its token keeps its place.
 */
import type { IncomingMessage, Server, ServerOptions } from "node:http";
import { type RoomLimits, WaitingRoom } from "./waiting-room.ts";

/** Node looks after those whose request does not come to an end. */
const strangers: RoomLimits = { seats: 512, seatsPerAddress: 256, stayMsMax: 0 };

/** Short times for what a stranger sends; and Node looks every second, not twice a minute. */
export function requestTimes(requestMs: number): ServerOptions {
  return { headersTimeout: 5000, requestTimeout: requestMs, connectionsCheckingInterval: 1000 };
}

export interface HttpStrangers {
  /** The request has shown that its connection may stay. */
  admit(request: IncomingMessage): void;
}

/** @param knownMax connections besides those of strangers */
export function watchStrangers(server: Server, knownMax: number): HttpStrangers {
  const room = new WaitingRoom(strangers);
  // More than there are seats: the system's own limit refuses newcomers, and a room does not.
  server.maxConnections = knownMax + 2 * strangers.seats;
  server.prependListener("connection", (socket) => room.enter(socket));
  return { admit: (request) => void room.leave(request.socket) };
}
