/** Connections to a passive party over TLS: for a job with its PSI, and for scoring. */
import type { Transport } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import type { PsiPeer } from "../psi/psi-peer.ts";
import type { PassivePeer } from "../wire/peer.ts";
import type { ScoringPeer } from "../wire/scoring-peer.ts";
import { callsTransport } from "./calls/calls-transport.ts";
import { reopenedCalls } from "./calls/reopened-calls.ts";
import { PassiveParty } from "../wire/generated/tandem/v1/tandem_pb.ts";
import { psiPeerOver } from "./psi-client.ts";
import type { CallWatch } from "./call-watch.ts";
import { type RequestJob, requestOver } from "./admission-client.ts";
import { peerOver } from "./peer-client.ts";
import { certificateFingerprint } from "./pinned-certificate.ts";
import { PinnedSessionManager } from "./pinned-session.ts";
import { type Channel, type Credentials, type Way, wayTo } from "./pipes/channel.ts";
import { scoringPeerOver } from "./scoring-client.ts";
import { callsPath, type Liveness, messageLimits, pingIntervalMs, type TlsIdentity } from "./tls-settings.ts";

const pingTimeoutMs = 20_000;

export interface TlsPeer extends PassivePeer {
  /** The same party, over the same connection, for the alignment before a job. */
  alignment(job: string, validationFile?: boolean): PsiPeer;
  /** Asks it over this connection whether a job may begin. */
  readonly request: RequestJob;
  close(): void;
}

/** A passive party that must present a pinned certificate, over any channel. */
export function connectTls(
  name: string,
  identity: TlsIdentity,
  pins: readonly string[],
  channel: Channel,
  { watch, ...liveness }: Partial<Liveness> & { readonly watch?: CallWatch | undefined } = {},
): TlsPeer {
  const way = wayTo(name, async () => ({ identity, pins }), channel);
  const { transport, sessions } = transportTo(way, { isReplaced: false, ...liveness });
  // All calls of a job share one stream, except the join, which lasts as long as the job: how it ends shows how the
  // party was lost.
  const calls = callsTransport(() => sessions.request("POST", callsPath, {}, { endStream: false }), {
    method: PassiveParty.method.join,
    transport,
  });
  const options = { at: way.at, refusal: () => sessions.refusal, watch };
  return {
    ...peerOver(name, calls, options),
    request: requestOver(name, transport, options),
    alignment: (job, validationFile) =>
      psiPeerOver(name, transport, job, validationFile, certificateFingerprint(identity.certificate), options),
    close: () => {
      watch?.close();
      sessions.abort();
      way.close();
    },
  };
}

export interface TlsScoringPeer extends ScoringPeer {
  close(): void;
}

/**
 * The same for scoring. Scoring calls are stateless: a connection that is lost or dead is replaced. They share a
 * stream, which lasts as long as its connection.
 * @param credentials asked for each connection: either side may have renewed its certificate
 */
export function connectScoring(
  name: string,
  credentials: () => Promise<Credentials>,
  channel: Channel,
): TlsScoringPeer {
  const way = wayTo(name, credentials, channel);
  const { sessions } = transportTo(way, { isReplaced: true });
  const options = { at: way.at, refusal: () => sessions.refusal };
  const calls = reopenedCalls(async () => {
    const stream = await sessions.request("POST", callsPath, {}, { endStream: false });
    const { session } = stream;
    stream.once("close", () => session?.destroy()); // a server takes one such stream per connection
    return stream;
  });
  return {
    ...scoringPeerOver(name, calls, options, () => sessions.abort()),
    close: () => {
      sessions.abort();
      way.close();
    },
  };
}

/** Only in the headers of calls: connections are those of the way. */
const baseUrl = "https://party";

function transportTo(
  way: Way,
  options: { readonly isReplaced: boolean } & Partial<Liveness>,
): { readonly transport: Transport; readonly sessions: PinnedSessionManager } {
  const liveness = { pingIntervalMs, pingTimeoutMs, ...options };
  const sessions = new PinnedSessionManager(baseUrl, liveness, () => way.open());
  const transport = createGrpcTransport({ baseUrl, sessionManager: sessions, ...messageLimits });
  return { transport, sessions };
}
