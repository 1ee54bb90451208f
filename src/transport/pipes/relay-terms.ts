/**
 * What a relay and the parties that dial it say to each other: an HTTP request that names a room and an end of it, with
 * the token of that end, becomes a WebSocket (RFC 6455). It waits until the relay has one of the other end, sends the
 * text `paired`, and from then on passes binary messages, which are the bytes of the parties' own TLS.
 */
export const relayProtocol = "tandem.relay.v1";
/** In every answer of a relay that is no WebSocket: why. */
export const relayHeader = "tandem-relay";
export const pairedWord = "paired";

/** Who an end of a room belongs to. */
export type RelayEnd = "active" | "passive";
export const relayEnds: readonly RelayEnd[] = ["active", "passive"];

export const roomSyntax = /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/;
export const roomSyntaxWords = "must be up to 64 small letters, digits and dashes";

export function roomPath(room: string, end: RelayEnd): string {
  return `/v1/rooms/${room}/${end}`;
}

/** Why a relay gives no WebSocket. An unknown room and a wrong token are the same, so that rooms cannot be guessed. */
export const relayRefusals = {
  token: { status: 401, words: "no such room, or not its token" },
  end: { status: 403, words: "this token is that of the room's other end" },
  full: { status: 429, words: "this end of the room has as many connections as it may have" },
  rate: { status: 429, words: "this end of the room connects too often" },
  stopping: { status: 503, words: "the relay is stopping" },
  request: { status: 400, words: "this is a relay of Tandem; use 'relay:' in the config of a party" },
} as const;
export type RelayRefusal = keyof typeof relayRefusals;

/** Why a relay closes a WebSocket. */
export const relayClosings = {
  /** The other end has closed. */
  over: 1000,
  stopping: 1012,
  /** No connection of the other end came in time. */
  absent: 4001,
  /** A newer connection of the same end waits. */
  displaced: 4002,
} as const;
/** A message that is no part of a pipe. */
export const unsupportedMessage = 1003;
