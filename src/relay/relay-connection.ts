/** One WebSocket of a party: it waits in its room, is joined to one of the other end, and is pinged in any case. */
import type { WebSocket } from "ws";
import type { RelayEnd } from "../transport/pipes/relay-terms.ts";

/** How long a party may take to answer the closing of a connection. */
const closeMs = 1000;

export class RelayConnection {
  readonly end: RelayEnd;
  readonly address: string;
  readonly socket: WebSocket;
  readonly #pinging: NodeJS.Timeout;
  #isAlive = true;

  constructor(end: RelayEnd, address: string, socket: WebSocket, pingMs: number) {
    this.end = end;
    this.address = address;
    this.socket = socket;
    const alive = (): void => void (this.#isAlive = true);
    socket.on("message", alive).on("ping", alive).on("pong", alive);
    socket.on("error", () => {}); // its close event follows
    this.#pinging = setInterval(() => this.#ping(), pingMs).unref();
    socket.once("close", () => clearInterval(this.#pinging));
  }

  #ping(): void {
    // One that is paused is not read: its answer may have arrived.
    if (!this.#isAlive && !this.socket.isPaused) return this.socket.terminate();
    this.#isAlive = false;
    // Behind bytes that are not taken off it would only wait.
    if (this.socket.bufferedAmount === 0 && this.socket.readyState === this.socket.OPEN) this.socket.ping();
  }

  get isOpen(): boolean {
    return this.socket.readyState === this.socket.OPEN;
  }

  close(code: number): void {
    if (this.socket.isPaused) this.socket.resume();
    this.socket.close(code);
    setTimeout(() => this.socket.terminate(), closeMs).unref();
  }
}
