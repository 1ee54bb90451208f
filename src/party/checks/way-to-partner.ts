/** A connection to a passive party, opened step by step, with a check for each step that succeeds. */
import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import type { TLSSocket } from "node:tls";
import { type RelayChannel, securedAtRelay } from "../../transport/pipes/channel.ts";
import { dial, type Dialled, dialProxy } from "../../transport/pipes/dial.ts";
import { leaseListener } from "../../transport/pipes/dialling-parties.ts";
import { ofProxy, type Proxy, proxyFor } from "../../transport/pipes/proxy.ts";
import { type OnRelayStep, openThroughRelay } from "../../transport/pipes/relay-pipe.ts";
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
  terms: Terms,
  checks: Check[],
): Promise<TLSSocket> {
  const socket = await ("listen" in channel
    ? accepted(name, fingerprint, channel.listen, terms, checks)
    : dialled(name, fingerprint, channel, terms, checks));
  const pin = fingerprint.length > 1 ? " (one of two pins)" : "";
  checks.push(ok("fingerprint", `the certificate is the pinned one of ${name}${pin}`));
  return socket;
}

async function accepted(
  name: string,
  fingerprints: readonly string[],
  listen: Address,
  { identity, timeoutMs }: Terms,
  checks: Check[],
): Promise<TLSSocket> {
  const started = performance.now();
  const lease = leaseListener(listen, identity, { name, fingerprints });
  const socket = await lease.take(timeoutMs).finally(() => lease.release());
  const at = `${listen.host}:${listen.port}`;
  checks.push(ok("TCP", `${name} has connected to ${at}, where this party listens (${ms(started)})`));
  checks.push(ok("TLS", socket.getProtocol() ?? "TLS"));
  return socket;
}

async function dialled(
  name: string,
  pins: readonly string[],
  channel: Dialled | RelayChannel,
  { identity, timeoutMs }: Terms,
  checks: Check[],
): Promise<TLSSocket> {
  const started = performance.now();
  const target = "relay" in channel ? channel.relay : channel;
  const proxy = await toTarget(target, timeoutMs, checks);
  let opened = performance.now();
  let socket: TLSSocket;
  if ("relay" in channel) {
    const onStep: OnRelayStep = (step, words) => checks.push(ok(step, words));
    const pipe = await openThroughRelay(channel.relay, name, { timeoutMs, onStep });
    checks.push(ok("other end", `a connection of ${name} waited in room ${channel.relay.room} (${ms(started)})`));
    opened = performance.now();
    socket = await securedAtRelay(name, identity, pins, pipe);
  } else {
    const stream = await dial(channel, timeoutMs);
    const way = proxy === null ? "" : `, through the proxy ${proxy.host}:${proxy.port}`;
    checks.push(ok("TCP", `${channel.host}:${channel.port} accepts connections${way} (${ms(started)})`));
    opened = performance.now();
    socket = await pinnedSocket(name, identity, pins, stream, channel.host);
  }
  checks.push(ok("TLS", `${socket.getProtocol() ?? "TLS"} (${ms(opened)})`));
  return socket;
}

/** The steps before a connection: the name, which a proxy looks up itself, and the proxy. */
export async function toTarget(target: Dialled, timeoutMs: number, checks: Check[]): Promise<Proxy | null> {
  const proxy = proxyFor(target, target.proxy);
  if (proxy === null) {
    await lookedUp(target, checks);
    return null;
  }
  await lookup(proxy.host).catch((cause: unknown) => {
    throw ofProxy(
      `the host name ${proxy.host} of the proxy is unknown`,
      "own",
      "correct the proxy in its config, or HTTPS_PROXY",
      cause,
    );
  });
  (await dialProxy(proxy, timeoutMs)).destroy();
  const from = target.proxy === undefined ? "HTTPS_PROXY" : "the config";
  checks.push(ok("proxy", `${proxy.host}:${proxy.port}, from ${from}, accepts connections`));
  return proxy;
}

async function lookedUp({ host }: Pick<Address, "host">, checks: Check[]): Promise<void> {
  if (isIP(host) !== 0) return void checks.push(ok("name", `${host} is an address`));
  const found = await lookup(host, { all: true });
  checks.push(ok("name", `${host} is ${found.map(({ address }) => address).join(", ")}`));
}

function ms(since: number): string {
  return `${(performance.now() - since).toFixed(0)} ms`;
}
