/** What a relay is given. */
import type { RelayEnd, RelayRefusal } from "../transport/pipes/relay-terms.ts";
import type { Address } from "../transport/tls-settings.ts";

export interface RelayLimits {
  /** Connections that one end of a room may have, waiting and joined. */
  readonly connectionsPerEnd: number;
  /** New connections of one end within a minute. */
  readonly connectionsPerMinute: number;
  /** Of all rooms. */
  readonly connections: number;
  /** Of a message. */
  readonly frameBytes: number;
  /** That wait in one direction of a pair until nothing more is read. */
  readonly waitingBytes: number;
  /** Of a room, both directions; 0: no limit. */
  readonly bytesPerSecond: number;
  /** How long a connection of the active end waits for one of the passive end. */
  readonly absentMs: number;
  readonly pingMs: number;
}

export interface RoomOptions {
  readonly name: string;
  /** SHA-256 digests of tokens, in hex: two of an end while its token is replaced. */
  readonly tokens: Readonly<Record<RelayEnd, readonly string[]>>;
}

export interface RelayOptions {
  readonly listen: Address;
  /** PEM texts. */
  readonly tls: { readonly certificate: string; readonly key: string };
  readonly rooms: readonly RoomOptions[];
  readonly limits: RelayLimits;
  readonly onEvent: (event: RelayEvent) => void;
}

/** Names of rooms, ends and addresses; no token and no byte of a pipe. */
export type RelayEvent =
  | { readonly type: "listening"; readonly port: number; readonly process: number; readonly rooms: number }
  | { readonly type: "connected"; readonly room: string; readonly end: RelayEnd; readonly address: string }
  | { readonly type: "joined"; readonly room: string }
  | {
      readonly type: "separated";
      readonly room: string;
      readonly seconds: number;
      readonly bytesToPassive: number;
      readonly bytesToActive: number;
    }
  | { readonly type: "absent"; readonly room: string; readonly address: string }
  | {
      readonly type: "refused";
      readonly reason: RelayRefusal | "handshake";
      readonly address: string;
      readonly why: string;
    }
  | { readonly type: "stopping" }
  | { readonly type: "stopped" };
