/** An HTTP proxy in this process (CONNECT alone), and what it was asked for. */
import { createServer, type Server } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";

export interface ProxyAnswers {
  /** A status in place of a connection; 0: none. */
  readonly answer?: number;
  /** `user:password` that it wants. */
  readonly credentials?: string;
}

export class ConnectProxy {
  readonly port: number;
  /** `host:port` of each request. */
  readonly asked: string[] = [];
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(port: number, server: Server) {
    this.port = port;
    this.#server = server;
  }

  static async start({ answer = 0, credentials }: ProxyAnswers = {}): Promise<ConnectProxy> {
    const server = createServer((_request, response) => response.writeHead(405).end());
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const proxy = new ConnectProxy((server.address() as AddressInfo).port, server);
    server.on("connect", ({ url = "", headers }, near: Socket) => {
      proxy.asked.push(url);
      near.on("error", () => {});
      const wanted = credentials === undefined ? undefined : `Basic ${Buffer.from(credentials).toString("base64")}`;
      const status = headers["proxy-authorization"] === wanted ? answer : 407;
      if (status !== 0) return void near.end(`HTTP/1.1 ${status} Refused\r\nContent-Length: 0\r\n\r\n`);
      const [, host, port] = /^(.*):(\d+)$/.exec(url) ?? [];
      const far = connect({ host, port: Number(port) });
      for (const socket of [near, far]) {
        proxy.#sockets.add(socket);
        socket
          .on("error", () => {})
          .once("close", () => {
            proxy.#sockets.delete(socket);
            (socket === near ? far : near).destroy();
          });
      }
      far.once("connect", () => {
        near.write("HTTP/1.1 200 Connection established\r\n\r\n");
        near.pipe(far).pipe(near);
      });
      far.once("error", () => near.end("HTTP/1.1 503 Unreachable\r\nContent-Length: 0\r\n\r\n"));
    });
    return proxy;
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    this.#server.closeAllConnections();
  }
}
