/** The address at which passive parties dial their active party: who gets a place, and what the others see. */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { createSelfSigned, type Identity } from "../certificates.ts";
import { StepError } from "../connection-trouble.ts";
import { certificateFingerprint } from "../pinned-certificate.ts";
import type { Address } from "../tls-settings.ts";
import { type Lease, leaseListener } from "./dialling-parties.ts";

let bank: Identity;
let shop: Identity;
let outsider: Identity;
beforeAll(async () => {
  [bank, shop, outsider] = await Promise.all(["bank", "shop", "other"].map((name) => createSelfSigned(name, 1)));
});

async function freeAddress(): Promise<Address> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return { host: "127.0.0.1", port };
}

function leased(address: Address): Lease {
  const lease = leaseListener(address, bank, {
    name: "shop",
    fingerprints: [certificateFingerprint(shop.certificate)],
  });
  onTestFinished(() => lease.release());
  return lease;
}

/** Dials, and serves TLS there with this identity, as a passive party does. */
async function dialling({ host, port }: Address, { certificate, key }: Identity): Promise<Socket> {
  const server = createTlsServer({ cert: certificate, key, requestCert: true, rejectUnauthorized: false });
  server.on("tlsClientError", () => {}).on("secureConnection", (secure) => secure.on("error", () => {}));
  const socket = connect({ host, port });
  socket.on("error", () => {});
  onTestFinished(() => void socket.destroy());
  await once(socket, "connect");
  server.emit("connection", socket);
  return socket;
}

async function troubleOf(lease: Lease): Promise<string> {
  const error = await lease.take(300).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(StepError);
  const { words, todo, by } = (error as StepError).trouble;
  return `${words}. ${by}: ${todo}`;
}

test("a connection is authenticated when it arrives, and waits until it is taken", async () => {
  const address = await freeAddress();
  const lease = leased(address);
  const taken = lease.take();
  const first = await dialling(address, shop);
  expect((await taken).remotePort).toBe(first.localPort);
  const waiting = [await dialling(address, shop), await dialling(address, shop)];
  await expect
    .poll(async () => {
      const socket = await lease.take();
      return waiting.some(({ localPort }) => localPort === socket.remotePort);
    })
    .toBe(true);
});

test("an unknown peer gets no place, and its certificate is named to the one who waits", async () => {
  const address = await freeAddress();
  const lease = leased(address);
  const trouble = troubleOf(lease);
  await new Promise((resolve) => setTimeout(resolve, 50));
  const socket = await dialling(address, outsider);
  await once(socket, "close");
  expect(await trouble).toMatch(
    new RegExp(
      `shop has not connected to .*refused: .*${certificateFingerprint(outsider.certificate)}.*partner: start`,
    ),
  );
});

test("silent connections do not take the places of a party that speaks", async () => {
  const address = await freeAddress();
  const lease = leased(address);
  const taken = lease.take();
  await dialling(address, shop);
  await taken;
  const silent = Array.from({ length: 200 }, () => connect(address).on("error", () => {}));
  onTestFinished(() => silent.forEach((socket) => socket.destroy()));
  const next = lease.take();
  await dialling(address, shop);
  expect((await next).authorized).toBe(false); // pinned, and of no authority
});

test("an address that is in use is this company's own trouble", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void other.close());
  await once(other, "listening");
  const lease = leased({ host: "127.0.0.1", port: (other.address() as AddressInfo).port });
  expect(await troubleOf(lease)).toMatch(/another program uses this port\. own: correct 'listen' in its config/);
});
