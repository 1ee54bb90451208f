import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { afterEach, expect, test } from "vitest";
import { type RoomLimits, WaitingRoom } from "./waiting-room.ts";

const cleanUps: (() => void)[] = [];
afterEach(() => cleanUps.splice(0).forEach((cleanUp) => cleanUp()));

/** A server whose connections all sit in a room; `come` adds one, and gives both of its ends. */
async function roomWith(limits: Partial<RoomLimits>) {
  const turnedAway: string[] = [];
  const room = new WaitingRoom({ seats: 100, seatsPerAddress: 100, stayMsMax: 0, ...limits }, (address, why) =>
    turnedAway.push(`${address}: ${why}`),
  );
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "0.0.0.0", resolve));
  const come = async (from = "127.0.0.1"): Promise<{ here: Socket; there: Socket }> => {
    const arrives = once(server, "connection") as Promise<[Socket]>;
    const there = connect({ port: (server.address() as AddressInfo).port, host: "127.0.0.1", localAddress: from });
    there.on("error", () => {}).resume();
    const [here] = await arrives;
    here.on("error", () => {});
    cleanUps.push(() => there.destroy());
    room.enter(here);
    return { here, there };
  };
  cleanUps.push(() => (room.clear(), server.close()));
  return { room, come, turnedAway };
}

test("whoever has waited longest leaves for a newcomer", async () => {
  const { room, come, turnedAway } = await roomWith({ seatsPerAddress: 2 });
  const guests = [await come(), await come(), await come(), await come()];
  expect(guests.map(({ here }) => here.destroyed)).toEqual([true, true, false, false]);
  expect(room.count).toBe(2);
  expect(turnedAway).toEqual(Array(2).fill("127.0.0.1: others wanted its place"));
});

test("a guest that was answered may stay longer than the silent ones, once", async () => {
  const { come } = await roomWith({ seatsPerAddress: 3 });
  const first = await come();
  await new Promise<void>((resolve) => first.here.write("hello", () => resolve()));
  const [second, third] = [await come(), await come()];
  await come();
  expect([first, second, third].map(({ here }) => here.destroyed)).toEqual([false, true, false]);
  for (let i = 0; i < 3; i++) await come();
  expect(first.here.destroyed, "its step is no seat for ever").toBe(true);
});

test("an address that floods takes its own seats, and of a full room the largest loses one", async () => {
  const { room, come } = await roomWith({ seats: 4, seatsPerAddress: 3 });
  const quiet = await come("127.0.0.2");
  const flood = [await come(), await come(), await come(), await come(), await come()];
  expect(quiet.here.destroyed).toBe(false);
  const other = await come("127.0.0.3");
  expect([quiet.here.destroyed, other.here.destroyed, room.count]).toEqual([false, false, 4]);
  expect(flood.map(({ here }) => here.destroyed)).toEqual([true, true, true, false, false]);
});

test("whoever has proven itself is no guest any more, and keeps its connection", async () => {
  const { room, come, turnedAway } = await roomWith({ seatsPerAddress: 1, stayMsMax: 50 });
  const proven = await come();
  expect(room.leave(proven.here)).toBe(true);
  const silent = await come();
  await once(silent.here, "close");
  expect([proven.here.destroyed, room.count]).toEqual([false, 0]);
  expect(turnedAway).toEqual(["127.0.0.1: it did not say who it is within 0.05 s"]);
  expect(room.leave(silent.here)).toBe(false);
});

test("a guest that leaves by itself is told of once, with what was known", async () => {
  const { room, come, turnedAway } = await roomWith({});
  const [one, other] = [await come(), await come()];
  room.explain(one.here, "it speaks another language");
  for (const { here, there } of [one, other]) {
    here.resume();
    there.destroy();
    await once(here, "close");
  }
  expect(turnedAway).toEqual(["127.0.0.1: it speaks another language", "127.0.0.1: it left without saying who it is"]);
});
