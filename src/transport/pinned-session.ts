/**
 * A session manager that uses HTTP/2 only over sockets whose peer was authenticated, with wide receive windows. A lost
 * connection of a job is not replaced silently: its open calls are lost with it, and a new attempt begins with a new
 * connection.
 */
import type { ClientHttp2Stream, Http2Session } from "node:http2";
import type { TLSSocket } from "node:tls";
import { Code, ConnectError } from "@connectrpc/connect";
import { Http2SessionManager } from "@connectrpc/connect-node";
import { RefusedByPeer, type Refusal, refusals } from "./connection-trouble.ts";
import { type Liveness, windowBytes } from "./tls-settings.ts";

export class PinnedSessionManager extends Http2SessionManager {
  readonly #widened = new WeakSet<Http2Session>();
  readonly #checked: { socket: TLSSocket | null };
  readonly #open: () => Promise<TLSSocket>;
  readonly #isReplaced: boolean;
  #opening: Promise<void> | null = null;
  #wasOpen = false;
  #refusal: RefusedByPeer | null = null;

  constructor(
    url: string,
    { isReplaced, ...liveness }: Liveness & { readonly isReplaced: boolean },
    open: () => Promise<TLSSocket>,
  ) {
    const checked: { socket: TLSSocket | null } = { socket: null };
    super(url, liveness, {
      settings: { initialWindowSize: windowBytes, maxFrameSize: 1 << 20 },
      createConnection() {
        const { socket } = checked;
        checked.socket = null;
        if (socket === null || socket.destroyed) throw new ConnectError("the connection was lost", Code.Unavailable);
        return socket;
      },
    });
    this.#checked = checked;
    this.#isReplaced = isReplaced;
    this.#open = open;
  }

  /** The party closed the connection because of this party's certificate; null: it did not. */
  get refusal(): RefusedByPeer | null {
    return this.#refusal;
  }

  override async request(...request: Parameters<Http2SessionManager["request"]>): Promise<ClientHttp2Stream> {
    if (this.state() === "closed" || this.state() === "error") {
      if (this.#wasOpen && !this.#isReplaced) throw new ConnectError("the connection was lost", Code.Unavailable);
      await (this.#opening ??= this.#connectChecked());
    }
    const stream = await super.request(...request);
    if (stream.session !== undefined && !this.#widened.has(stream.session)) {
      this.#widened.add(stream.session);
      stream.session.setLocalWindowSize(windowBytes);
      // The streams of a broken connection fail themselves. If the other side closes the connection after the last
      // stream, the error occurs only here, and would be unhandled.
      stream.session.on("error", () => {});
      stream.session.on("goaway", (_code, _last, reason?: Uint8Array) => {
        const word = Buffer.from(reason ?? []).toString("latin1");
        if (Object.hasOwn(refusals, word)) this.#refusal = new RefusedByPeer(word as Refusal);
      });
    }
    return stream;
  }

  async #connectChecked(): Promise<void> {
    try {
      this.#checked.socket = await this.#open();
      if ((await this.connect()) === "error") throw this.error();
      this.#wasOpen = true;
    } catch (cause) {
      throw ConnectError.from(cause, Code.Unavailable);
    } finally {
      this.#opening = null;
    }
  }
}
