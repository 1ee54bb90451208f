/**
 * Who is inside, and who stands at the door. A connection waits among the strangers until it has shown a pinned
 * certificate; from then on it has a place of its own that no stranger can take. A pinned party has several places, so
 * that connections of it that lead nowhere do not keep it out: the oldest of its own makes room.
 */
import type { ServerHttp2Session } from "node:http2";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { type OnTurnedAway, type RoomLimits, WaitingRoom } from "../base/listening/waiting-room.ts";
import { onFirstRecord } from "./first-record.ts";
import { fewWords, type FewWords } from "./few-words.ts";
import { checkCertificate, type PinnedParty } from "./pinned-certificate.ts";

const strangers: RoomLimits = { seats: 1024, seatsPerAddress: 512, stayMsMax: 5000 };
/** A job and scores, each twice while it reconnects, and some more for connections that lead nowhere. */
const placesPerParty = 16;

export class Door {
  readonly #pinned: readonly PinnedParty[];
  readonly #words: FewWords;
  readonly #room: WaitingRoom;
  /** By fingerprint, oldest first. */
  readonly #inside = new Map<string, Set<ServerHttp2Session>>();

  constructor(pinned: readonly PinnedParty[], onTurnedAway: OnTurnedAway) {
    this.#pinned = pinned;
    this.#words = fewWords(onTurnedAway);
    this.#room = new WaitingRoom(strangers, this.#words.tell);
  }

  /** Somebody has connected, and has said nothing yet. @param begin called when TLS may begin with it */
  knock(socket: Socket, begin: () => void): void {
    this.#room.enter(socket);
    onFirstRecord(socket, begin, (why) => {
      this.#room.refuse(socket, why);
      socket.destroy();
    });
  }

  /** TLS has failed: that says more than that the connection is closed. */
  failed(socket: TLSSocket, error: NodeJS.ErrnoException): void {
    this.#room.explain(socket, `no TLS 1.3 connection (${error.code ?? "unknown"})`);
  }

  /** TLS is there: lets the holder of a pinned certificate in. @returns null, and the session ends, for others */
  admit(session: ServerHttp2Session): PinnedParty | null {
    const socket = session.socket as TLSSocket;
    const checked = checkCertificate(socket.getPeerCertificate().raw, this.#pinned);
    if (typeof checked === "string") {
      this.#room.refuse(socket, checked);
      session.destroy();
      return null;
    }
    this.#room.leave(socket);
    this.#take(checked, session);
    return checked;
  }

  #take({ fingerprint }: PinnedParty, session: ServerHttp2Session): void {
    const places = this.#inside.get(fingerprint) ?? new Set<ServerHttp2Session>();
    this.#inside.set(fingerprint, places);
    if (places.size >= placesPerParty) {
      const [oldest] = places;
      places.delete(oldest);
      oldest.destroy();
    }
    places.add(session);
    session.once("close", () => places.delete(session));
  }

  /** Nobody is let in any more. */
  close(): void {
    for (const places of this.#inside.values()) for (const session of places) session.close();
    this.#room.clear();
    this.#words.close();
  }
}
