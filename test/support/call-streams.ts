/** Streams of many calls between two ends in this process: HTTP/2 without TLS. */
import { once } from "node:events";
import { type ClientHttp2Stream, connect, createServer, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo } from "node:net";
import {
  type ConnectRouter,
  createConnectRouter,
  createContextValues,
  type MethodImplSpec,
  type Transport,
} from "@connectrpc/connect";
import { HeldBytes } from "../../src/transport/held-bytes.ts";
import { callsTransport } from "../../src/transport/calls/calls-transport.ts";
import { registered } from "../../src/transport/calls/registered-methods.ts";
import { ServedCalls } from "../../src/transport/calls/serve-calls.ts";

const cleanUps: (() => void)[] = [];

export function closeCallStreams(): void {
  for (const cleanUp of cleanUps.splice(0)) cleanUp();
}

/** Both ends of a stream. */
export async function streamPair(
  taken: (stream: ServerHttp2Stream) => void,
  settings: { initialWindowSize?: number } = {},
): Promise<ClientHttp2Stream> {
  const server = createServer({ settings });
  server.on("stream", (stream) => {
    stream.on("error", () => {});
    stream.respond({ ":status": 200 });
    taken(stream);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  session.on("error", () => {});
  cleanUps.push(() => {
    session.destroy();
    server.close();
  });
  const stream = session.request({ ":method": "POST", ":path": "/" }, { endStream: false });
  stream.on("error", () => {});
  return stream;
}

/** Calls that go to these routes, all in one stream. */
export function transportTo(routes: (router: ConnectRouter) => void): Transport {
  return callsTransport(() => streamTo(routes));
}

/** The same, for tests that write frames themselves. */
export function streamTo(
  routes: (router: ConnectRouter) => void,
  served: (calls: ServedCalls) => void = () => {},
): Promise<ClientHttp2Stream> {
  const methods = new Map<string, MethodImplSpec>();
  registered(routes, methods)(createConnectRouter());
  return streamPair((stream) => served(new ServedCalls(stream, methods, createContextValues(), new HeldBytes())));
}
