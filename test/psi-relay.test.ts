/**
 * Relayed points, over real TLS. An active party without ids runs PSI with two shops that hold the same ids. It sends
 * each of them the other's masked points, in various orders, and looks for points that it received twice: these would
 * be ids that both shops hold. It must find none.
 */
import type { Client } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { intersectActive } from "../src/psi/active-psi.ts";
import { type PsiPeer, pointsPerChunkMax } from "../src/psi/psi-peer.ts";
import { hashDomain, hashToCurve } from "../src/psi/hash-to-curve.ts";
import { MaskingPool } from "../src/psi/masking-pool.ts";
import { DistinctIds } from "../src/psi/normalise.ts";
import { Alignment } from "../src/wire/generated/tandem/v1/alignment_pb.ts";
import { protocolVersion } from "../src/wire/version.ts";
import { testWorlds } from "./support/test-worlds.ts";
import { makePeople } from "./world/people.ts";
import { type Company, foundCompany } from "./world/processes.ts";
import { rawClient } from "./support/raw-client.ts";
import { collect } from "./support/streams.ts";

const people = makePeople(40, "relay");
const ids = people.map(({ id }) => id);
const worlds = testWorlds();

interface Relay {
  readonly actives: readonly Company[];
  /** A new connection of one of the active parties to the first or the second shop. */
  connect(shop: 0 | 1, active?: 0 | 1): Cheat;
}

/** Two shops with the same ids, and two active parties that both have pinned. */
async function relay(): Promise<Relay> {
  const world = await worlds.found({
    bank: { people, columns: [0] },
    north: { people, columns: [1] },
    south: { people, columns: [2] },
  });
  const lender = await foundCompany(world.root, "lender", { people, columns: [0] }, "active");
  const actives = [world.bank, lender];
  const parties = await Promise.all(world.shops.map((shop) => world.start(shop, {}, { actives })));
  return {
    actives,
    connect: (shop, active = 0) => new Cheat(rawClient(Alignment, actives[active], parties[shop].port)),
  };
}

/** One connection, and every point received on it. */
class Cheat {
  readonly seen: string[] = [];
  readonly #client: Client<typeof Alignment>;

  constructor(client: Client<typeof Alignment>) {
    this.#client = client;
  }

  async begin(activeIdCount: number, job = "j"): Promise<void> {
    await this.#client.begin({ protocolVersion, job, hashDomain, normalisations: [], activeIdCount });
  }

  async remask(points: readonly string[]): Promise<string[]> {
    const answers: string[] = [];
    for await (const answer of this.remasking(points)) answers.push(answer);
    return answers;
  }

  /** One point per message, so that answers may come before all of them are sent. */
  async *remasking(points: Iterable<string> | AsyncIterable<string>): AsyncGenerator<string> {
    async function* messages() {
      let sequence = 0;
      for await (const point of points) yield { sequence: sequence++, points: Buffer.from(point, "hex") };
    }
    for await (const { points: answer } of this.#client.remask(messages())) yield* this.#note(answer);
  }

  async maskedIds(): Promise<string[]> {
    const masked: string[] = [];
    for await (const { points } of this.#client.maskedIds({})) masked.push(...this.#note(points));
    return masked;
  }

  #note(points: Uint8Array): string[] {
    const all = Buffer.from(points);
    const found = Array.from({ length: all.length / 32 }, (_, i) => all.toString("hex", 32 * i, 32 * i + 32));
    this.seen.push(...found);
    return found;
  }
}

/** Points of ids that no shop holds. */
function unknownPoints(count: number, from = 0): string[] {
  return Array.from({ length: count }, (_, i) => hashed(`unknown ${from + i}`));
}

function hashed(id: string, boundTo = ""): string {
  const point = Buffer.alloc(32);
  hashToCurve(id, point, 0, boundTo);
  return point.toString("hex");
}

async function refusal(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => "",
    (error: unknown) => String(error),
  );
}

function tick(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 1));
}

/** The number of points that were received more than once. */
function duplicates(...cheats: readonly Cheat[]): number {
  const all = cheats.flatMap(({ seen }) => seen);
  expect(all.length).toBeGreaterThan(0);
  return all.length - new Set(all).size;
}

test("the same count finds all common ids when the active party holds them itself", async () => {
  const { actives, connect } = await relay();
  const shop = connect(0);
  const pool = new MaskingPool(0);
  const mask = async (points: readonly string[]): Promise<string[]> => {
    const masked = Buffer.from(await pool.mask(Buffer.from(points.join(""), "hex")));
    return points.map((_, i) => masked.toString("hex", 32 * i, 32 * i + 32));
  };
  await shop.begin(ids.length);
  const remasked = await shop.remask(await mask(ids.map((id) => hashed(id, actives[0].fingerprint))));
  const theirs = new Set(await mask(await shop.maskedIds()));
  expect(remasked.filter((point) => theirs.has(point))).toHaveLength(40);
  pool.close();
});

test("masked ids cannot be requested first", async () => {
  const { connect } = await relay();
  const [north, south] = [connect(0), connect(1)];
  for (const shop of [north, south]) {
    await shop.begin(40);
    expect(await refusal(shop.maskedIds())).toMatch(/begun: this message is out of order/);
    expect(await refusal(shop.remask(unknownPoints(40)))).toMatch(/no alignment under way/);
    expect(shop.seen).toEqual([]);
  }
});

test("nor while both shops wait for the last point", async () => {
  const { connect } = await relay();
  const [north, south] = [connect(0), connect(1)];
  await Promise.all([north.begin(40), south.begin(40)]);
  /** All but one point; after the first answers it requests the other shop's masked ids, to relay them. */
  async function* waiting(from: Cheat, other: Cheat): AsyncGenerator<string> {
    yield* unknownPoints(39);
    for (let waits = 0; from.seen.length < 20 && waits < 500; waits++) await tick();
    const [last] = await other.maskedIds();
    yield last;
  }
  const outcomes = await Promise.all([
    refusal(collect(north.remasking(waiting(north, south)))),
    refusal(collect(south.remasking(waiting(south, north)))),
  ]);
  expect(outcomes.join()).toMatch(/out of order/);
  for (const outcome of outcomes) expect(outcome).not.toBe("");
  // Only answers to the active party's own points were received, and no masked id.
  expect(north.seen.length + south.seen.length).toBeLessThanOrEqual(78);
  expect(duplicates(north, south)).toBe(0);
});

test("one shop's masked ids can be relayed to the other, but not back", async () => {
  const { connect } = await relay();
  const [north, south] = [connect(0), connect(1)];
  await Promise.all([north.begin(40), south.begin(40)]);
  await north.remask(unknownPoints(40));
  const ofNorth = await north.maskedIds();
  await south.remask(ofNorth); // north's ids, under both masks
  const ofSouth = await south.maskedIds(); // south's ids under its own mask, without north's
  expect(await refusal(north.remask(ofSouth))).toMatch(/exchanged: this message is out of order/);
  expect(duplicates(north, south)).toBe(0);
});

test("nor in another attempt, over another connection, or by another party: masks differ", async () => {
  const { connect } = await relay();
  const [north, south] = [connect(0), connect(1)];
  await Promise.all([north.begin(40), south.begin(40)]);
  await north.remask(unknownPoints(40));
  await south.remask(await north.maskedIds());
  const ofSouth = await south.maskedIds();

  await north.begin(40);
  const again = await north.remask(ofSouth);
  await north.maskedIds();
  const second = connect(0); // the same active party and job: it replaces the first connection
  await second.begin(40);
  expect(await refusal(north.remask(ofSouth))).toMatch(/no alignment under way/);
  await second.remask(again);
  await second.maskedIds();
  const lender = connect(0, 1);
  expect(await refusal(lender.begin(40))).toMatch(/a job named j with another active party/);
  const lenderSouth = connect(1, 1);
  expect(await refusal(lenderSouth.begin(40))).toMatch(/a job named j with another active party/);
  expect(duplicates(north, south, second)).toBe(0);
});

test("two colluding active parties, one at each shop, find nothing in any order", async () => {
  const { connect } = await relay();
  const [north, south] = [connect(0, 0), connect(1, 1)];
  await Promise.all([north.begin(80), south.begin(80)]);
  // South's answers go to north while south still takes points.
  const chain: string[] = [];
  async function* intoSouth(): AsyncGenerator<string> {
    yield* unknownPoints(40);
    for (let waits = 0; chain.length < 40; waits++) await (waits < 5000 ? tick() : expect.fail("no answers"));
    await north.remask([...chain, ...unknownPoints(40, 40)]);
    yield* await north.maskedIds();
  }
  for await (const answer of south.remasking(intoSouth())) if (chain.length < 40) chain.push(answer);
  await south.maskedIds();
  expect(duplicates(north, south)).toBe(0);
});

test("an honest active party's points match nothing at a shop that it did not ask", async () => {
  const { actives, connect } = await relay();
  const shared = async (boundTo: string): Promise<number> => {
    const shop = connect(0);
    /** Poses as a passive party to the lender and as the bank to a shop, and relays all messages. */
    const between: PsiPeer = {
      name: "between",
      boundTo,
      async begin({ activeIdCount }) {
        await shop.begin(activeIdCount);
        return { passiveIdCount: 40 };
      },
      async *remask(chunks) {
        for await (const answer of shop.remasking(pointwise(chunks))) yield Buffer.from(answer, "hex");
      },
      async *maskedIds() {
        yield Buffer.from((await shop.maskedIds()).join(""), "hex");
      },
      accept: () => Promise.resolve(),
    };
    const { pairwise } = await intersectActive(DistinctIds.from(ids), [between], { threads: 0 });
    return pairwise[0].sharedCount;
  };
  // The lender's points are bound to the lender, the shop's to its caller.
  expect(await shared(actives[1].fingerprint)).toBe(0);
  // Without the binding, the relay would learn the size of the lender's and the shop's intersection.
  expect(await shared(actives[0].fingerprint)).toBe(40);
});

async function* pointwise(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  for await (const chunk of chunks) {
    expect(chunk.length).toBeLessThanOrEqual(32 * pointsPerChunkMax);
    for (let offset = 0; offset < chunk.length; offset += 32)
      yield Buffer.from(chunk).toString("hex", offset, offset + 32);
  }
}
