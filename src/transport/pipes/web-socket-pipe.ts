/**
 * A pipe of bytes over a WebSocket: binary messages of limited size, back-pressure in both directions, and pings that
 * keep devices from closing a connection which is idle.
 */
import { Duplex } from "node:stream";
import type { RawData, WebSocket } from "ws";
import { pairedWord, unsupportedMessage } from "./relay-terms.ts";

const pingMs = 20_000;
/** Bytes that a stream of ours holds in each direction. */
const heldBytes = 1 << 18;

export class WebSocketPipe extends Duplex {
  /** Settles with true when the relay has joined it to one of the other end; with false if it is closed before. */
  readonly paired: Promise<boolean>;
  /** As the relay gave it; 0: the connection was lost. */
  closeCode = 0;
  readonly #socket: WebSocket;
  readonly #frameBytesMax: number;
  readonly #pinging: NodeJS.Timeout;
  #isPaired: (is: boolean) => void = () => {};
  #hasPair = false;
  /** Something arrived since the last ping. */
  #isAlive = true;

  /** @param socket that is open */
  constructor(socket: WebSocket, frameBytesMax: number) {
    super({ highWaterMark: heldBytes });
    this.#socket = socket;
    this.#frameBytesMax = frameBytesMax;
    this.paired = new Promise((resolve) => (this.#isPaired = resolve));
    socket.on("message", (data, isBinary) => this.#received(data, isBinary));
    socket.on("ping", () => (this.#isAlive = true));
    socket.on("pong", () => (this.#isAlive = true));
    socket.on("error", (error) => this.destroy(error));
    socket.on("close", (code) => this.#closed(code));
    this.#pinging = setInterval(() => this.#ping(), pingMs);
  }

  #received(data: RawData, isBinary: boolean): void {
    this.#isAlive = true;
    if (isBinary && this.#hasPair) {
      if (!this.push(data)) this.#socket.pause();
    } else if (!isBinary && !this.#hasPair && String(data as Buffer) === pairedWord) {
      this.#hasPair = true;
      this.#isPaired(true);
    } else this.#socket.close(unsupportedMessage);
  }

  #ping(): void {
    // Paused: what has arrived is not read, and may be the answer.
    if (!this.#isAlive && !this.#socket.isPaused) return this.#socket.terminate();
    this.#isAlive = false;
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.ping();
  }

  #closed(code: number): void {
    this.closeCode = code;
    clearInterval(this.#pinging);
    this.#isPaired(false);
    if (!this.#hasPair) return void this.destroy();
    if (!this.readableEnded) this.push(null); // after what has arrived
    this.end();
  }

  override _read(): void {
    if (this.#socket.isPaused) this.#socket.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#send(chunk, done);
  }

  /** In messages of the allowed size. */
  #send(bytes: Buffer, done: (error?: Error | null) => void): void {
    const rest = bytes.subarray(this.#frameBytesMax);
    const sent = (error?: Error | null): void => (error || rest.length === 0 ? done(error) : this.#send(rest, done));
    this.#socket.send(bytes.subarray(0, this.#frameBytesMax), { binary: true }, sent);
  }

  override _final(done: () => void): void {
    this.#socket.close();
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    clearInterval(this.#pinging);
    this.#isPaired(false);
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.close();
    // A peer that does not answer the closing is not waited for.
    setTimeout(() => this.#socket.terminate(), 1000).unref();
    done(error);
  }
}
