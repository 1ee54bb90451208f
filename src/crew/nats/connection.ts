/**
 * The connection to the servers: always mutual TLS. It reconnects automatically without a time limit; the callers send
 * unconfirmed messages again.
 */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { checkServerIdentity, type PeerCertificate } from "node:tls";
import { connect, errors, type NatsConnection, type TlsOptions } from "@nats-io/transport-node";
import { TandemError } from "../../base/error.ts";
import { messageBytesMax } from "../engine.ts";
import { lost } from "./trouble.ts";

export interface ServerAccess {
  /** As in `tls://nats-0.nats:4222`. */
  readonly servers: readonly string[];
  /** PEM texts: the client's identity, and the authority of the servers. */
  readonly tls: { readonly certificate: string; readonly key: string; readonly authority: string };
  /** The client name that the servers' operator sees. */
  readonly client: string;
  /** How long to wait for an answer while there is no connection. */
  readonly patienceMs: number;
  /** How long to wait for the first connection; default: the same. */
  readonly firstPatienceMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called with the reason why there is no connection yet. */
  readonly onWait?: ((why: string) => void) | undefined;
}

const retryMs = 500;
/** Room for message headers. */
const headerBytesMax = 4096;

/** @throws TandemError CERTIFICATE if one side does not trust the other, ENGINE_LOST after the patience */
export async function connectTo(access: ServerAccess): Promise<NatsConnection> {
  checkIdentity(access.tls);
  const until = Date.now() + (access.firstPatienceMs ?? access.patienceMs);
  for (let attempt = 0; ; attempt++) {
    access.signal?.throwIfAborted();
    try {
      return await connectedOnce(access);
    } catch (error) {
      if (error instanceof TandemError) throw error;
      const why = whyNot(error);
      if (isDistrust(error)) throw new TandemError("CERTIFICATE", `the engine: ${why}`, { cause: error });
      if (Date.now() > until)
        throw lost(
          `no server of ${access.servers.join(", ")} can be reached: ${why}. ` +
            "Start nats-server there, or run without workers: --embedded",
          error,
        );
      if (attempt === 0) access.onWait?.(`${access.servers.join(", ")}: ${why}`);
    }
    await pause(retryMs, undefined, { signal: access.signal });
  }
}

/** The number of reconnections. The server may have been restarted in between. */
export function countReconnects(connection: NatsConnection): () => number {
  let count = 0;
  void (async () => {
    for await (const { type } of connection.status()) if (type === "reconnect") count++;
  })();
  return () => count;
}

/** Checked here, because a server just closes the connection for an expired certificate or a wrong key. */
function checkIdentity({ certificate, key }: ServerAccess["tls"]): void {
  const { validTo, isOwnKey } = identityOf(certificate, key);
  if (!isOwnKey)
    throw new TandemError("CERTIFICATE", `the crew's key does not belong to its certificate: ${bothOfOneCall}`);
  if (Date.now() > Date.parse(validTo))
    throw new TandemError(
      "CERTIFICATE",
      `the crew's certificate expired at ${validTo}. Create new ones with 'tandem init crew'`,
    );
}

const bothOfOneCall = "take both from one call of 'tandem init crew'";

function identityOf(certificate: string, key: string): { validTo: string; isOwnKey: boolean } {
  try {
    const x509 = new X509Certificate(certificate);
    return { validTo: x509.validTo, isOwnKey: x509.checkPrivateKey(createPrivateKey(key)) };
  } catch (cause) {
    throw new TandemError("CERTIFICATE", `the crew's certificate or its key is not PEM: ${bothOfOneCall}`, { cause });
  }
}

async function connectedOnce({ servers, tls, client }: ServerAccess): Promise<NatsConnection> {
  const options = {
    servers: [...servers],
    name: client,
    tls: withIdentity({ ca: tls.authority, cert: tls.certificate, key: tls.key }, servers),
    timeout: 5000,
  };
  // A permanent connection does not report why it cannot be established: it retries for ever.
  await connect({ ...options, reconnect: false }).then((trial) => trial.close());
  const connection = await connect({
    ...options,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 250,
    reconnectJitterTLS: 100,
    // A host that fails does not close its connections.
    pingInterval: 5000,
    maxPingOut: 2,
  });
  const payloadMax = connection.info?.max_payload ?? 0;
  if (payloadMax >= messageBytesMax + headerBytesMax) return connection;
  await connection.close();
  throw new TandemError(
    "USAGE",
    `the engine accepts messages of ${payloadMax} bytes; Tandem needs the default max_payload of 1 MB`,
  );
}

/**
 * A server must be one of those that the config names. (For an address the client library would check the name
 * localhost; and servers announce others by addresses that are in no certificate.)
 */
function withIdentity(tls: TlsOptions, servers: readonly string[]): TlsOptions {
  const hosts = servers.map((server) => new URL(server.replace(/^tls:/, "https:")).hostname.replace(/^\[|\]$/g, ""));
  const check = (_host: string, certificate: PeerCertificate): Error | undefined => {
    const troubles = hosts.map((host) => checkServerIdentity(host, certificate));
    return troubles.includes(undefined) ? undefined : troubles[0];
  };
  return Object.assign(tls, { checkServerIdentity: check });
}

const distrustCodes =
  /^(?:CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|ERR_TLS|ERR_SSL|ERR_OSSL|HOSTNAME_MISMATCH|INVALID_CA)/;

/** A server that does not know our certificate's authority closes the connection, as does a server that is starting.
 * */
function isDistrust(error: unknown): boolean {
  if (error instanceof errors.AuthorizationError) return true;
  const { code, message } = error as NodeJS.ErrnoException;
  return distrustCodes.test(code ?? "") || /does not support 'tls'/.test(message);
}

function whyNot(error: unknown): string {
  if (error instanceof errors.AuthorizationError)
    return "it knows no user for this certificate, or the certificate has expired";
  const { code, message } = error as NodeJS.ErrnoException;
  if (/does not support 'tls'/.test(message)) return "it does not speak TLS";
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID")
    return `its certificate is for other hosts than the configured ones (${code})`;
  if (/^(?:DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)/.test(code ?? ""))
    return `its certificate was not signed by the tls.authority of this config; is it another crew's? (${code})`;
  if (/^ERR_SSL_.*ALERT/.test(code ?? "")) return `it rejects this certificate (${code})`;
  if (code === "ECONNRESET" || code === "EPIPE")
    return "it closes the connection. Does it know the authority that signed this certificate?";
  return code === undefined ? message : `${message} (${code})`;
}
