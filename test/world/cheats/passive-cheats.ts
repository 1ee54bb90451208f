/** Deviations of a malicious passive party in a job with an honest active one. */
import type { ServiceImpl } from "@connectrpc/connect";
import { fromBinary } from "@bufbuild/protobuf";
import { runActive } from "../../../src/party/active/run.ts";
import { realWorld } from "../../../src/party/active/world.ts";
import { TandemError } from "../../../src/base/error.ts";
import { noNotes } from "../../../src/record/job-record.ts";
import { encodeMessage } from "../../../src/wire/scheme-message.ts";
import {
  PaillierGradientsSchema,
  PaillierSetUpSchema,
  PaillierSumsSchema,
} from "../../../src/wire/generated/tandem/v1/paillier_pb.ts";
import {
  type ActiveSplitDecision,
  type ActiveSplitDecisions,
  PassiveParty,
} from "../../../src/wire/generated/tandem/v1/tandem_pb.ts";
import { bigEndianNumber } from "../../../src/wire/big-endian.ts";
import { bankConfig, columnsOf, makePeople } from "../hostile/hostile-parties.ts";
import { type Between, servePassive } from "../hostile/hostile-passive.ts";
import type { Scenario } from "../hostile/hostile-scenarios.ts";
import type { ActiveChanges } from "../processes.ts";
import type { Arena } from "./arena.ts";
import { type Caught, type Cheat, caught } from "./cheat.ts";
import { littleEndianBytes, littleEndianNumber, power } from "./plain-numbers.ts";

type Calls = ServiceImpl<typeof PassiveParty>;

/** The instances that a decision names, where each instance is a candidate. */
const candidatesIn = ({ named }: ActiveSplitDecision): readonly number[] =>
  named.case === "candidate" ? [named.value] : [];

/** A call that takes longer counts as unanswered. */
const patienceMs = 6000;

interface Play {
  readonly change: (calls: Calls) => Calls;
  readonly scenario?: Omit<Scenario, "name">;
  /** Of the passive party's table. */
  readonly shopRow?: (person: ReturnType<typeof makePeople>[number], index: number) => readonly string[];
  readonly guessedIds?: number;
  /** Of the active party's config; text, because it may be of a version that has more fields. */
  readonly bankChanges?: ActiveChanges;
  readonly learned: () => string | null;
}

async function played(arena: Arena, play: Play): Promise<Caught> {
  const { change, scenario = {}, shopRow = ({ shop }) => shop, guessedIds = 0, bankChanges = {}, learned } = play;
  const hasCategories = scenario.training?.["enable_categorical"] === true;
  const rows = [
    ...makePeople().map((person, i) => [person.id, ...shopRow(person, i)]),
    ...Array.from({ length: guessedIds }, (_, i) => [`zq${5000 + i}x`, "1", "2", "3"]),
  ];
  const world = await arena.world({ hasCategories, shopTable: { header: ["id", ...columnsOf.shop], rows } });
  const between: Between = (router) => {
    const changed: ReturnType<Between> = {
      ...router,
      service(service, calls, options) {
        const isJob = (service as unknown) === PassiveParty;
        router.service(service, isJob ? ({ ...calls, ...change(calls as Calls) } as typeof calls) : calls, options);
        return changed;
      },
    };
    return changed;
  };
  const server = await servePassive(await world.passiveConfig(world.shop), between);
  try {
    return await caught(async () => {
      const config = await bankConfig(world, server.port, arena.job(), { name: "cheat", ...scenario }, bankChanges);
      const late = new Promise<never>((_, reject) =>
        setTimeout(() => reject(new Error("no outcome in time")), patienceMs).unref(),
      );
      try {
        await Promise.race([runActive(config, () => {}, { ...realWorld, notes: () => noNotes }), late]);
      } catch (error) {
        const what = learned();
        if (what !== null) return what;
        throw error;
      }
      return learned();
    });
  } finally {
    await server.close();
  }
}

/**
 * Answers with M times the gradient of one instance for each candidate, as if M such instances were on a side.
 * Instances with the same label then have the same gain, and the winner has the label of the best.
 */
function tieAttack(): Play {
  const named = new Set<number>();
  let n = 0n;
  let strideBits = 0;
  let perCiphertext = 1;
  let ciphertexts: bigint[] = [];
  let width = 0;
  const copies = 12;
  const change = (calls: Calls): Calls => ({
    ...calls,
    setUp(request, context) {
      const { modulus, plaintextBits } = fromBinary(PaillierSetUpSchema, request.scheme);
      n = bigEndianNumber(modulus);
      width = 2 * modulus.length;
      strideBits = plaintextBits;
      perCiphertext = Math.floor((8 * modulus.length - 1) / plaintextBits);
      return calls.setUp(request, context);
    },
    gradients(requests, context) {
      ciphertexts = [];
      async function* watched() {
        for await (const request of requests) {
          const { ciphertexts: bytes } = fromBinary(PaillierGradientsSchema, request.scheme);
          for (let at = 0; at < bytes.length; at += width)
            ciphertexts.push(littleEndianNumber(bytes.subarray(at, at + width)));
          yield request;
        }
      }
      return calls.gradients(watched(), context);
    },
    async *histograms(requests, context) {
      for await (const answer of calls.histograms(requests, context)) {
        const { counts = [], firstCandidate = 0 } = answer;
        const sums: Uint8Array[] = [];
        for (let first = 0; first < counts.length; first += perCiphertext) {
          let sum = 1n;
          for (let k = 0; k < Math.min(perCiphertext, counts.length - first); k++) {
            const person = ciphertexts[(firstCandidate + first + k) % ciphertexts.length];
            sum = (sum * power(person, BigInt(copies) << BigInt(k * strideBits), n * n)) % (n * n);
          }
          sums.push(littleEndianBytes(sum, width));
        }
        const scheme = encodeMessage(PaillierSumsSchema, { ciphertexts: Buffer.concat(sums) });
        yield { ...answer, counts: counts.map(() => copies), scheme };
      }
    },
    // oxlint-disable-next-line require-yield
    async *splits(request: ActiveSplitDecisions) {
      for (const decision of request.decisions) for (const person of candidatesIn(decision)) named.add(person);
      throw new TandemError("PARTY_LOST", "it has what it wanted");
    },
  });
  return { change, learned: () => (named.size > 1 ? `that ${named.size} people have the same label` : null) };
}

/** Each instance is a category: the set that goes right has the instances of one label. */
function categoryPerPerson(): Play {
  let largest = 0;
  const change = (calls: Calls): Calls => ({
    ...calls,
    splits(request, context) {
      for (const { named } of request.decisions)
        if (named.case === "set") largest = Math.max(largest, named.value.categories.length);
      return calls.splits(request, context);
    },
  });
  return {
    change,
    // As by default: hostile jobs allow categories of one person.
    scenario: { training: { enable_categorical: true, min_category_people: 5 } },
    shopRow: (_person, i) => ["1", "1", String(i)],
    learned: () => (largest > 1 ? `that ${largest} people have much the same label` : null),
  };
}

/** A table of guessed ids: when a job begins, its owner knows which of them are common. */
function guessedTable(): Play {
  let isRevealed = false;
  const change = (calls: Calls): Calls => ({
    ...calls,
    join(hello, context) {
      isRevealed = true;
      return calls.join(hello, context);
    },
  });
  return {
    change,
    scenario: { align: true },
    guessedIds: 300,
    bankChanges: { max_passive_ids: 100 },
    learned: () => (isRevealed ? "which of its guesses the active party holds" : null),
  };
}

export const passiveCheats: readonly Cheat[] = [
  {
    name: "1 a person's gradient in place of each sum, to see who ties",
    codes: ["PARTY_LOST", "PROTOCOL_STATE", "DECODE_OVERFLOW"],
    run: (arena) => played(arena, tieAttack()),
  },
  {
    name: "9 ids that it has guessed, to see whom the active party holds",
    codes: ["POLICY", "PROTOCOL_STATE"],
    run: (arena) => played(arena, guessedTable()),
  },
  {
    name: "12 a category for each person",
    codes: ["POLICY", "PROTOCOL_STATE"],
    run: (arena) => played(arena, categoryPerPerson()),
  },
  {
    name: "13 answers to pings, and to no call",
    codes: ["PARTY_LOST", "TIMEOUT"],
    run: (arena) =>
      played(arena, {
        change: (calls) => ({ ...calls, setUp: () => new Promise(() => {}) }),
        bankChanges: { call_seconds: 2, patience_seconds: 0 },
        learned: () => null,
      }),
  },
];
