/** A connection of a hostile active party: the product's own TLS, and no limit on what may be sent. */
import type { Transport } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { PinnedSessionManager } from "../../../src/transport/pinned-session.ts";
import { dial } from "../../../src/transport/pipes/dial.ts";
import { pinnedSocket } from "../../../src/transport/pinned-socket.ts";
import type { TlsIdentity } from "../../../src/transport/tls-settings.ts";
import type { Company } from "../processes.ts";

export interface HostileConnection {
  readonly transport: Transport;
  close(): void;
}

const anySize = 64 << 20;

export function connectHostile(identity: TlsIdentity, to: Company, port: number): HostileConnection {
  const address = { host: "127.0.0.1", port };
  const baseUrl = `https://${address.host}:${port}`;
  const sessionManager = new PinnedSessionManager(
    baseUrl,
    { pingIntervalMs: 20_000, pingTimeoutMs: 20_000, isReplaced: false },
    async () => pinnedSocket(to.name, identity, [to.fingerprint], await dial(address), address.host),
  );
  const transport = createGrpcTransport({
    baseUrl,
    sessionManager,
    readMaxBytes: anySize,
    writeMaxBytes: anySize,
    acceptCompression: [],
  });
  return { transport, close: () => sessionManager.abort() };
}
