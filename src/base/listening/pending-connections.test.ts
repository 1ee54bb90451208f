import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { afterEach, expect, test } from "vitest";
import { type PendingLimits, PendingConnections } from "./pending-connections.ts";

const cleanUps: (() => void)[] = [];
afterEach(() => cleanUps.splice(0).forEach((cleanUp) => cleanUp()));

/** A server whose connections are all pending; `open` adds one, and returns both of its ends. */
async function serverWith(limits: Partial<PendingLimits>) {
  const rejected: string[] = [];
  const pending = new PendingConnections(
    { connectionsMax: 100, perAddressMax: 100, authenticateMsMax: 0, ...limits },
    (address, why) => rejected.push(`${address}: ${why}`),
  );
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "0.0.0.0", resolve));
  const open = async (from = "127.0.0.1"): Promise<{ here: Socket; there: Socket }> => {
    const arrives = once(server, "connection") as Promise<[Socket]>;
    const there = connect({ port: (server.address() as AddressInfo).port, host: "127.0.0.1", localAddress: from });
    there.on("error", () => {}).resume();
    const [here] = await arrives;
    here.on("error", () => {});
    cleanUps.push(() => there.destroy());
    pending.add(here);
    return { here, there };
  };
  cleanUps.push(() => (pending.clear(), server.close()));
  return { pending, open, rejected };
}

test("the oldest pending connection is dropped for a new one", async () => {
  const { pending, open, rejected } = await serverWith({ perAddressMax: 2 });
  const sockets = [await open(), await open(), await open(), await open()];
  expect(sockets.map(({ here }) => here.destroyed)).toEqual([true, true, false, false]);
  expect(pending.count).toBe(2);
  expect(rejected).toEqual(Array(2).fill("127.0.0.1: displaced by newer connections"));
});

test("a connection that was answered outlives silent ones, once", async () => {
  const { open } = await serverWith({ perAddressMax: 3 });
  const first = await open();
  await new Promise<void>((resolve) => first.here.write("hello", () => resolve()));
  const [second, third] = [await open(), await open()];
  await open();
  expect([first, second, third].map(({ here }) => here.destroyed)).toEqual([false, true, false]);
  for (let i = 0; i < 3; i++) await open();
  expect(first.here.destroyed, "progress does not hold a slot for ever").toBe(true);
});

test("an address that floods uses its own slots; at the total limit the address with most loses one", async () => {
  const { pending, open } = await serverWith({ connectionsMax: 4, perAddressMax: 3 });
  const quiet = await open("127.0.0.2");
  const flood = [await open(), await open(), await open(), await open(), await open()];
  expect(quiet.here.destroyed).toBe(false);
  const other = await open("127.0.0.3");
  expect([quiet.here.destroyed, other.here.destroyed, pending.count]).toEqual([false, false, 4]);
  expect(flood.map(({ here }) => here.destroyed)).toEqual([true, true, true, false, false]);
});

test("an authenticated connection is no longer pending, and stays open", async () => {
  const { pending, open, rejected } = await serverWith({ perAddressMax: 1, authenticateMsMax: 50 });
  const proven = await open();
  expect(pending.remove(proven.here)).toBe(true);
  const silent = await open();
  await once(silent.here, "close");
  expect([proven.here.destroyed, pending.count]).toEqual([false, 0]);
  expect(rejected).toEqual(["127.0.0.1: it did not authenticate within 0.05 s"]);
  expect(pending.remove(silent.here)).toBe(false);
});

test("a connection that its peer closes is reported once, with the known reason", async () => {
  const { pending, open, rejected } = await serverWith({});
  const [one, other] = [await open(), await open()];
  pending.setReason(one.here, "it speaks another language");
  for (const { here, there } of [one, other]) {
    here.resume();
    there.destroy();
    await once(here, "close");
  }
  expect(rejected).toEqual([
    "127.0.0.1: it speaks another language",
    "127.0.0.1: it disconnected before it authenticated",
  ]);
});
