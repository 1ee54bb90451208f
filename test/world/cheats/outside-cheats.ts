/** Attacks on honest parties by a man in the middle, or by unknown peers that connect. */
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { runActive } from "../../../src/party/active/run.ts";
import { realWorld } from "../../../src/party/active/world.ts";
import { noNotes } from "../../../src/record/job-record.ts";
import { centralisedModel, isSameJson } from "../hostile/exact-model.ts";
import type { ProcessWorld } from "../processes.ts";
import { bankConfig } from "../hostile/hostile-parties.ts";
import type { Arena } from "./arena.ts";
import { type Cheat, caught } from "./cheat.ts";

/** An honest job through this port. @returns what is wrong with its model; null: nothing */
async function honestJob(
  arena: Arena,
  world: ProcessWorld,
  port: number,
  patience_seconds = 20,
): Promise<string | null> {
  const name = arena.job();
  const config = await bankConfig(world, port, name, { name }, { patience_seconds });
  await runActive(config, () => {}, { ...realWorld, notes: () => noNotes });
  const stored = await world.model(name);
  return isSameJson(stored, await centralisedModel(config, world)) ? null : "another model than in one place";
}

/** A proxy that changes one byte of the first connections. */
async function corruptingWay(to: number, places: readonly number[]): Promise<{ port: number; close(): void }> {
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((incoming) => {
    const place = places.at(connections) ?? Infinity;
    const isAnswer = connections++ % 2 === 1;
    const outgoing = connect(to, "127.0.0.1");
    for (const socket of [incoming, outgoing]) {
      sockets.add(socket);
      socket.on("error", () => {});
    }
    const pass = (from: Socket, into: Socket, isCorrupted: boolean): void => {
      let seen = 0;
      from.on("data", (data: Buffer) => {
        if (isCorrupted && seen <= place && place < seen + data.length) data[place - seen] ^= 1;
        seen += data.length;
        into.write(data);
      });
      from.on("close", () => into.destroy());
    };
    pass(incoming, outgoing, !isAnswer);
    pass(outgoing, incoming, isAnswer);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = (): void => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  return { port: (server.address() as AddressInfo).port, close };
}

const silentConnections = 40;

export const outsideCheats: readonly Cheat[] = [
  {
    name: "6 connections that say nothing, as many as the party takes",
    codes: [],
    run: async (arena) => {
      const { world, port } = await arena.party();
      const silent = Array.from({ length: silentConnections }, () => connect(port, "127.0.0.1").on("error", () => {}));
      await new Promise((resolve) => setTimeout(resolve, 200));
      const what = await caught(() => honestJob(arena, world, port));
      for (const socket of silent) socket.destroy();
      return what;
    },
  },
  {
    name: "18 a byte of a TLS record that is another on the way",
    codes: [],
    run: async (arena) => {
      const { world, port } = await arena.party();
      const way = await corruptingWay(port, [5000, 4000, 9000, 7000]);
      const what = await caught(() => honestJob(arena, world, way.port));
      way.close();
      return what;
    },
  },
  {
    name: "18 a party that is killed before the first contact",
    codes: ["PARTY_LOST"],
    run: async (arena) => {
      const world = await arena.world();
      const process = await world.spawn(world.shop);
      const port = await process.port();
      await process.stop("SIGKILL");
      return caught(() => honestJob(arena, world, port, 2));
    },
  },
];
