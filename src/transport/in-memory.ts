/** Both parties in one process, with real serialisation and back-pressure but no network: for tests and simulations. */
import { createRouterTransport } from "@connectrpc/connect";
import type { PassivePeer } from "../wire/peer.ts";
import { messageBytesMax } from "../wire/version.ts";
import type { PassiveService } from "./passive-service.ts";
import { peerOver } from "./peer-client.ts";

export function connectInMemory(name: string, service: PassiveService): PassivePeer {
  const limits = { readMaxBytes: messageBytesMax, writeMaxBytes: messageBytesMax };
  return peerOver(name, createRouterTransport(service.routes, { transport: limits, router: limits }));
}
