import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SeededRandom } from "../base/random.ts";
import { type ActivePsiResult, intersectActive } from "./active-psi.ts";
import type { PsiPeer } from "./psi-peer.ts";
import { hashToCurve } from "./hash-to-curve.ts";
import { InProcessPeer } from "../../test/world/psi/in-process-peer.ts";
import { DistinctIds } from "./normalise.ts";
import { PassivePsi } from "./passive-psi.ts";

interface Aligned {
  readonly result: ActivePsiResult;
  /** Aligned ids per party, the active one first. */
  readonly ids: string[][];
}

async function align(
  sets: readonly (readonly string[])[],
  threads = 0,
  wrap = (peer: PsiPeer): PsiPeer => peer,
): Promise<Aligned> {
  const [active, ...passives] = sets.map((set) => DistinctIds.from(set));
  const peers = passives.map((ids, p) => new InProcessPeer(`passive ${p}`, new PassivePsi(ids, { threads })));
  const result = await intersectActive(active, peers.map(wrap), { threads });
  const rows = [result.rows, ...peers.map((peer) => peer.rows ?? expect.fail("a passive party has no rows"))];
  return { result, ids: rows.map((list, party) => Array.from(list, (row) => sets[party][row])) };
}

function shuffled<T>(items: readonly T[], random: SeededRandom): T[] {
  return Array.from(random.permutation(items.length), (i) => items[i]);
}

function people(from: number, to: number): string[] {
  return Array.from({ length: to - from }, (_, i) => `person-${from + i}`);
}

/** The plain intersection, which the aligned ids must equal at every party. */
function expectCommon(aligned: Aligned, sets: readonly (readonly string[])[]): void {
  const common = sets[0].filter((id) => sets.every((set) => set.includes(id))).toSorted();
  for (const ids of aligned.ids) expect(ids).toEqual(common);
  aligned.result.pairwise.forEach(({ sharedCount, idCount }, p) => {
    expect(idCount).toBe(sets[p + 1].length);
    expect(sharedCount).toBe(sets[p + 1].filter((id) => sets[0].includes(id)).length);
  });
}

describe("private set intersection equals the plain intersection", () => {
  test.each([1, 2, 4])("%i passive parties, random sets and orders", async (passiveCount) => {
    const party = fc.uniqueArray(fc.integer({ min: 0, max: 20 }).map(String), { maxLength: 20 });
    const sets = fc.array(party, { minLength: passiveCount + 1, maxLength: passiveCount + 1 });
    await fc.assert(
      fc.asyncProperty(sets, async (drawn) => expectCommon(await align(drawn), drawn)),
      { numRuns: 40 },
    );
  });

  test.each([1, 2, 4])("%i passive parties, larger sets that overlap in most ids", async (passiveCount) => {
    const random = new SeededRandom(`overlap ${passiveCount}`);
    const sets = Array.from({ length: passiveCount + 1 }, (_, p) => shuffled(people(10 * p, 200 + 10 * p), random));
    const aligned = await align(sets);
    expectCommon(aligned, sets);
    expect(aligned.ids[0].length).toBe(200 - 10 * passiveCount);
  });

  test.each<[string, string[], string[]]>([
    ["disjoint", people(0, 30), people(30, 60)],
    ["passive empty", people(0, 30), []],
    ["active empty", [], people(0, 30)],
    ["both empty", [], []],
    ["identical", people(0, 30), people(0, 30)],
    ["reversed", people(0, 30), people(0, 30).reverse()],
    ["active is a subset", people(10, 20), people(0, 30)],
    ["passive is a subset", people(0, 30), people(10, 20)],
    ["ids beyond ASCII", ["é", "e\u0301", "🙂", "日本"], ["日本", "é", "🙂", "x"]],
  ])("%s", async (_, active, passive) => {
    expectCommon(await align([active, passive]), [active, passive]);
  });

  test("several chunks, on threads, with progress", async () => {
    const random = new SeededRandom("threads");
    const sets = [shuffled(people(0, 4200), random), shuffled(people(2100, 4300), random)];
    const [active, passive] = sets.map((set) => DistinctIds.from(set));
    const seen: { active: [number, number][]; passive: [number, number][] } = { active: [], passive: [] };
    const psi = new PassivePsi(passive, {
      threads: 1,
      onProgress: (done, total) => seen.passive.push([done, total]),
    });
    const peer = new InProcessPeer("p", psi);
    const { rows } = await intersectActive(active, [peer], {
      threads: 2,
      onProgress: (done, total) => seen.active.push([done, total]),
    });
    expect(Array.from(rows, (row) => sets[0][row])).toEqual(people(2100, 4200).toSorted());
    expect(Array.from(peer.rows ?? [], (row) => sets[1][row])).toEqual(people(2100, 4200).toSorted());
    expect(seen.active.at(-1)).toEqual([10_600, 10_600]);
    expect(seen.passive.at(-1)).toEqual([6400, 6400]);
    for (const steps of Object.values(seen)) {
      expect(steps.length).toBeGreaterThan(4);
      expect(steps).toEqual(steps.toSorted(([a], [b]) => a - b));
    }
  });
});

/** Everything that travels between the active party and one passive party. */
class Wiretap {
  readonly toPassive: Uint8Array[] = [];
  readonly toActive: Uint8Array[] = [];
  readonly positions: Uint32Array[] = [];

  wrap(peer: PsiPeer): PsiPeer {
    return {
      name: peer.name,
      boundTo: peer.boundTo,
      begin: (offer, options) => peer.begin(offer, options),
      remask: (points, options) => copying(peer.remask(copying(points, this.toPassive), options), this.toActive),
      maskedIds: (options) => copying(peer.maskedIds(options), this.toActive),
      accept: (count, positions, options) => peer.accept(count, copying(positions, this.positions), options),
    };
  }
}

async function* copying<T extends Uint8Array | Uint32Array>(chunks: AsyncIterable<T>, into: T[]): AsyncGenerator<T> {
  for await (const chunk of chunks) {
    into.push(chunk.slice() as T);
    yield chunk;
  }
}

function pointsOf(chunks: readonly Uint8Array[]): string[] {
  const all = Buffer.concat(chunks);
  return Array.from({ length: all.length / 32 }, (_, i) => all.toString("hex", 32 * i, 32 * i + 32));
}

describe("messages", () => {
  const sets = [people(0, 120), people(40, 160)];

  async function tapped(): Promise<Wiretap> {
    const wiretap = new Wiretap();
    await align(sets, 0, (peer) => wiretap.wrap(peer));
    return wiretap;
  }

  test("no id, and no hash of an id that a dictionary could find", async () => {
    const { toPassive, toActive, positions } = await tapped();
    const sent = Buffer.concat([...toPassive, ...toActive, ...positions.map((list) => Buffer.from(list.buffer))]);
    expect(sent.length).toBe(32 * 360 + 4 * 80);
    for (const id of people(0, 160)) {
      const point = Buffer.alloc(32);
      hashToCurve(id, point, 0);
      const digests = ["sha256", "sha512"].map((name) => createHash(name).update(id).digest().subarray(0, 16));
      for (const trace of [Buffer.from(id), point, ...digests]) expect(sent.includes(trace), id).toBe(false);
    }
  });

  test("masks are all different, and different in each run", async () => {
    const [first, second] = [await tapped(), await tapped()];
    const all = [first, second].flatMap((run) => [...pointsOf(run.toPassive), ...pointsOf(run.toActive)]);
    // In each run the 120 ids re-masked and the two times 120 masked ones; nothing repeats.
    expect(new Set(all).size).toBe(2 * 360);
  });

  test("ids are sent in an order that is drawn anew each time, positions ascend", async () => {
    const position = async (): Promise<number[]> => {
      const { positions } = await tapped();
      return positions.flatMap((list) => [...list]);
    };
    const [first, second] = [await position(), await position()];
    expect(first).toEqual(first.toSorted((a, b) => a - b));
    // In file order the common ids would be 0..79.
    expect(first.some((at) => at >= 80)).toBe(true);
    expect(first).not.toEqual(second);
  });

  test("the active party's ids are sent in an order that is drawn anew each time", async () => {
    // A passive party that answers honestly for the first 10 points only, and with points of other ids for the rest,
    // makes the intersection the ids that were sent first.
    const sentFirst = async (): Promise<number[]> => {
      const peer = new InProcessPeer("p", new PassivePsi(DistinctIds.from(sets[0]), { threads: 0 }));
      const partly: PsiPeer = {
        name: "p",
        boundTo: "",
        begin: (offer) => peer.begin(offer),
        maskedIds: () => peer.maskedIds(),
        accept: (count, positions) => peer.accept(count, positions),
        async *remask(points) {
          for await (const chunk of peer.remask(points)) {
            for (let i = 10; i < chunk.length / 32; i++) hashToCurve(`other ${i}`, chunk, 32 * i);
            yield chunk;
          }
        },
      };
      const { rows } = await intersectActive(DistinctIds.from(sets[0]), [partly], { threads: 0 });
      return [...rows].toSorted((a, b) => a - b);
    };
    const [first, second] = [await sentFirst(), await sentFirst()];
    expect(first.length).toBe(10);
    expect(first).not.toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(first).not.toEqual(second);
  });
});

const folder = join(
  process.env["TANDEM_DATA"] ?? fileURLToPath(new URL("../../../shared/data", import.meta.url)),
  "align",
);
const absent = !existsSync(folder);
if (absent)
  console.info("align: the real id files are not here; skipped (set TANDEM_DATA to a folder that has align/)");

describe.skipIf(absent)("real files with repeated ids", () => {
  const idsOf = (file: string): string[] =>
    readFileSync(join(folder, file), "utf8")
      .trimEnd()
      .split(/\r?\n/)
      .slice(1)
      .map((line) => line.split(",")[1]);
  const lineOf = (row: number): number => row + 2;

  test("569 distinct against 299 ids", async () => {
    const guest = idsOf("breast_hetero_guest_sample_id.csv");
    const host = idsOf("breast_hetero_host_sample_id.csv");
    expect([new Set(guest).size, new Set(host).size]).toEqual([569, 299]);
    expect(() => DistinctIds.from(guest, { source: "guest.csv", lineOf })).toThrow(
      /^guest\.csv: lines 2 and 3, .* have the same id/,
    );
    const hostIds = DistinctIds.from(host);
    const common = [...new Set(guest)].filter((id) => host.includes(id)).toSorted();
    for (const duplicates of ["first", "last"] as const) {
      const peer = new InProcessPeer("host", new PassivePsi(hostIds, { threads: 0 }));
      const { rows } = await intersectActive(DistinctIds.from(guest, { duplicates }), [peer], { threads: 0 });
      const kept = duplicates === "first" ? guest.indexOf.bind(guest) : guest.lastIndexOf.bind(guest);
      expect([...rows]).toEqual(common.map((id) => kept(id)));
      expect(Array.from(peer.rows ?? [], (row) => host[row])).toEqual(common);
    }
  });
});
