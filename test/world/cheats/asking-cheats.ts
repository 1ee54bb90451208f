/**
 * Requests of a malicious active party outside a job: which ids a party holds, which two parties share, and outcomes.
 */
import { Scoring } from "../../../src/wire/generated/tandem/v1/scoring_pb.ts";
import type { ActiveHello } from "../../../src/wire/generated/tandem/v1/tandem_pb.ts";
import { createClient } from "@connectrpc/connect";
import { join } from "node:path";
import { hashDomain } from "../../../src/psi/hash-to-curve.ts";
import { intersectActive } from "../../../src/psi/active-psi.ts";
import type { PsiPeer } from "../../../src/psi/psi-peer.ts";
import { DistinctIds } from "../../../src/psi/normalise.ts";
import { readIdentity } from "../../../src/party/identity.ts";
import { readActiveShare } from "../../../src/store/share-files.ts";
import { psiPeerOver } from "../../../src/transport/psi-client.ts";
import { peerOver } from "../../../src/transport/peer-client.ts";
import { protocolVersion } from "../../../src/wire/version.ts";
import { isSet } from "../../../src/wire/bitmap.ts";
import { runHostileActive, type Target } from "../hostile/hostile-active.ts";
import type { Said } from "../hostile/hostile-call.ts";
import { connectHostile, type HostileConnection } from "../hostile/hostile-connection.ts";
import { HostileJob } from "../hostile/hostile-job.ts";
import type { PassiveChanges } from "../processes.ts";
import { type Cheat, caught } from "./cheat.ts";
import { ids } from "./puppet.ts";

/** The limits on ids that can be guessed by repeated PSI. */
const alignmentBudget: PassiveChanges = { policy: { budget: { daily: { ids: 100 } } } };
const guessesPerAlignment = 20;
const alignments = 12;

async function connected({ bank, shop, port }: Target): Promise<HostileConnection> {
  const identity = await readIdentity({
    certificate: join(bank.folder, "certificate.pem"),
    key: join(bank.folder, "key.pem"),
  });
  return connectHostile(identity, shop, port);
}

/** A finished job of an honest active party with this one. */
async function afterJob(party: Target): Promise<{ readonly model: string; readonly said: readonly Said[] }> {
  const job = new HostileJob(0, 1);
  const { said } = await runHostileActive(party, { name: "before" }, job, { elsewhere: [], callsBefore: 0 });
  const share = join(party.bank.folder, "jobs", job.name, "share.json");
  return { model: (await readActiveShare(share)).model, said };
}

/** Masks of one party, in messages and without. */
async function all(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array[]> {
  const points: Uint8Array[] = [];
  for await (const chunk of chunks) for (let at = 0; at < chunk.length; at += 32) points.push(chunk.slice(at, at + 32));
  return points;
}

async function* chunked(points: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield Buffer.concat(points);
}

/** Relays the masked ids of each of two parties to the other: points masked by both are equal for common ids. */
async function relay(first: PsiPeer, second: PsiPeer): Promise<number> {
  const offer = { hashDomain, normalisations: [], activeIdCount: ids.length };
  await Promise.all([first.begin(offer, {}), second.begin(offer, {})]);
  const [ofFirst, ofSecond] = await Promise.all([all(first.maskedIds({})), all(second.maskedIds({}))]);
  const [once, again] = await Promise.all([
    all(second.remask(chunked(ofFirst), {})),
    all(first.remask(chunked(ofSecond), {})),
  ]);
  const seen = new Set(once.map((point) => Buffer.from(point).toString("hex")));
  return again.filter((point) => seen.has(Buffer.from(point).toString("hex"))).length;
}

export const askingCheats: readonly Cheat[] = [
  {
    name: "8 one party's alignment passed on to another",
    codes: ["PROTOCOL_STATE", "POLICY", "HANDSHAKE_MISMATCH"],
    run: async (arena) => {
      const first = await arena.party();
      const second = await arena.party({}, first.bank);
      const ways = await Promise.all([connected(first), connected(second)]);
      const [a, b] = ways.map(({ transport }) => psiPeerOver("shop", transport, arena.job()));
      const what = await caught(async () => {
        const shared = await relay(a, b);
        return shared === 0 ? null : `that the two have ${shared} people in common, whom it does not hold`;
      });
      for (const { close } of ways) close();
      return what;
    },
  },
  {
    name: "10 one guessed id after the other, by asking for scores",
    codes: ["POLICY"],
    run: async (arena) => {
      const party = await arena.party({ policy: { budget: { scored_people: 30 } } });
      const { model } = await afterJob(party);
      const { transport, close } = await connected(party);
      const client = createClient(Scoring, transport);
      const what = await caught(async () => {
        let held = 0;
        for (let i = 0; i < 120; i++) {
          const id = i % 2 === 0 ? ids[i % ids.length] : `guess-${i}`;
          const { known } = await client.score({ protocolVersion, model, ids: [id] });
          if (isSet(known, 0)) held++;
        }
        return `which of 120 people the party holds: ${held}`;
      });
      close();
      return what;
    },
  },
  {
    name: "10 guessed ids, by aligning again and again",
    codes: ["POLICY"],
    run: async (arena) => {
      const party = await arena.party(alignmentBudget);
      const what = await caught(async () => {
        for (let i = 0; i < alignments; i++) {
          const { transport, close } = await connected(party);
          const guesses = Array.from({ length: guessesPerAlignment }, (_, k) => `zq${990 + 5 * i + k}x`);
          await intersectActive(
            DistinctIds.from(guesses),
            [psiPeerOver("shop", transport, arena.job(), false, party.bank.fingerprint)],
            {
              threads: 1,
            },
          ).finally(close);
        }
        return `which of ${alignments * guessesPerAlignment} guesses the party holds`;
      });
      return what;
    },
  },
  {
    name: "14 predictions after the end, of a party that does not score",
    codes: ["POLICY", "PROTOCOL_STATE", "ID_MISMATCH"],
    run: async (arena) => {
      const party = await arena.party({ policy: { scoring: false } });
      const { said } = await afterJob(party);
      const { transport, close } = await connected(party);
      const peer = peerOver("shop", transport);
      const hello = said.find(({ method }) => method.localName === "join")?.messages[0] as ActiveHello;
      const what = await caught(async () => {
        const hellos = peer.join({ ...hello, trees: 2 }, {})[Symbol.asyncIterator]();
        await hellos.next();
        let outcomes = 0;
        async function* named() {
          yield { ids };
        }
        await peer.testRows(named(), {});
        for await (const { leftMembers } of peer.predict({ rowCount: ids.length }, {}))
          outcomes += 8 * leftMembers.length;
        return `${outcomes} outcomes of people whom it chose`;
      });
      close();
      return what;
    },
  },
];
