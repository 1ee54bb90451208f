/** A connection to a passive party, opened step by step, with a check for each step that succeeds. */
import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import type { TLSSocket } from "node:tls";
import { dial } from "../../transport/pipes/dial.ts";
import { leaseListener } from "../../transport/pipes/dialling-parties.ts";
import { pinnedSocket } from "../../transport/pinned-socket.ts";
import type { Address, TlsIdentity } from "../../transport/tls-settings.ts";
import type { PartnerConfig } from "../config/config.ts";
import { type Check, ok } from "./check.ts";

interface Terms {
  readonly identity: TlsIdentity;
  readonly timeoutMs: number;
}

/** @throws what failed, for connection-trouble.ts */
export async function connectedInSteps(
  { name, fingerprint, channel }: PartnerConfig,
  { identity, timeoutMs }: Terms,
  checks: Check[],
): Promise<TLSSocket> {
  const started = performance.now();
  let socket: TLSSocket;
  if ("listen" in channel) {
    const { host, port } = channel.listen;
    const lease = leaseListener(channel.listen, identity, { name, fingerprints: fingerprint });
    socket = await lease.take(timeoutMs).finally(() => lease.release());
    checks.push(ok("TCP", `${name} has connected to ${host}:${port}, where this party listens (${ms(started)})`));
    checks.push(ok("TLS", socket.getProtocol() ?? "TLS"));
  } else {
    await lookedUp(channel, checks);
    const stream = await dial(channel, timeoutMs);
    checks.push(ok("TCP", `${channel.host}:${channel.port} accepts connections (${ms(started)})`));
    const opened = performance.now();
    socket = await pinnedSocket(name, identity, fingerprint, stream, channel.host);
    checks.push(ok("TLS", `${socket.getProtocol() ?? "TLS"} (${ms(opened)})`));
  }
  const pin = fingerprint.length > 1 ? " (one of two pins)" : "";
  checks.push(ok("fingerprint", `the certificate is the pinned one of ${name}${pin}`));
  return socket;
}

export async function lookedUp({ host }: Pick<Address, "host">, checks: Check[]): Promise<void> {
  if (isIP(host) !== 0) return void checks.push(ok("name", `${host} is an address`));
  const found = await lookup(host, { all: true });
  checks.push(ok("name", `${host} is ${found.map(({ address }) => address).join(", ")}`));
}

function ms(since: number): string {
  return `${(performance.now() - since).toFixed(0)} ms`;
}
