/** Deviations of a malicious active party in a job with `tandem party`. */
import { checkPrimeSync } from "node:crypto";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { bigEndianBytes } from "../../../src/wire/big-endian.ts";
import { bitmapFrom } from "../../../src/wire/bitmap.ts";
import { PaillierGradientsSchema, PaillierSetUpSchema } from "../../../src/wire/generated/tandem/v1/paillier_pb.ts";
import type { ActiveGradients } from "../../../src/wire/generated/tandem/v1/tandem_pb.ts";
import type { Arena } from "./arena.ts";
import { type Caught, type Cheat, caught } from "./cheat.ts";
import { ids, Puppet } from "./puppet.ts";

/** Plays a puppet in a job of its own. */
async function played(
  arena: Arena,
  play: (puppet: Puppet) => Promise<string | null>,
  scenario: Parameters<typeof Puppet.of>[2] = {},
): Promise<Caught> {
  const puppet = await Puppet.of(await arena.plain(), arena.job(), scenario);
  try {
    return await caught(() => play(puppet));
  } finally {
    puppet.close();
  }
}

/** A set-up with other contents. */
async function changedSetUp(
  puppet: Puppet,
  change: Partial<{ plaintextBits: number; packing: boolean; modulus: Uint8Array }>,
): Promise<Uint8Array> {
  const message = fromBinary(PaillierSetUpSchema, await puppet.setUpMessage());
  return toBinary(PaillierSetUpSchema, { ...message, ...change });
}

/** n = p (2 p + 1): the order of the group shares a factor with n, and an r^n hides little. */
function badModulus(bits: number): bigint {
  const isPrime = (candidate: bigint): boolean => checkPrimeSync(candidate);
  let p = 2n ** BigInt(bits / 2 - 1) + 1n;
  while (!isPrime(p) || !isPrime(2n * p + 1n)) p += 2n;
  return p * (2n * p + 1n);
}

const membersWhere = (isIn: (person: number) => boolean): Uint8Array => bitmapFrom(ids.length, isIn);
const half = membersWhere((person) => person < ids.length / 2);
const otherHalf = membersWhere((person) => person % 2 === 0);

function repeated(chunk: ActiveGradients): void {
  const message = fromBinary(PaillierGradientsSchema, chunk.scheme);
  const width = message.ciphertexts.length / ids.length;
  for (let person = 2; person < ids.length; person++)
    message.ciphertexts.copyWithin(person * width, (person % 2) * width, (person % 2) * width + width);
  chunk.scheme = toBinary(PaillierGradientsSchema, message);
}

export const activeCheats: readonly Cheat[] = [
  {
    name: "2 marks instead of gradients, in a layout with room for one per person",
    codes: ["POLICY", "PROTOCOL_STATE"],
    run: (arena) =>
      played(arena, async (puppet) => {
        await puppet.join();
        await puppet.setUp(await changedSetUp(puppet, { plaintextBits: 250 }));
        return "which people are in each sum";
      }),
  },
  {
    name: "2 marks, each sum in a ciphertext of its own",
    codes: ["POLICY"],
    run: (arena) =>
      played(arena, async (puppet) => {
        await puppet.join();
        await puppet.setUp(await changedSetUp(puppet, { packing: false }));
        return "which people are in each sum";
      }),
  },
  {
    name: "3 a lost connection, and then other members of the same node",
    codes: ["PROTOCOL_STATE", "CHECKPOINT", "POLICY"],
    run: (arena) =>
      played(arena, async (puppet) => {
        const asked = { parent: 0, sibling: 2 };
        await puppet.begin();
        await puppet.gradients(0);
        await puppet.root(0);
        const first = await puppet.node(0, 1, { ...asked, members: half });
        puppet.reconnect();
        await puppet.begin();
        await puppet.gradients(0);
        await puppet.root(0);
        const second = await puppet.node(0, 1, { ...asked, members: otherHalf });
        return JSON.stringify(first) === JSON.stringify(second) ? null : "sums over two groups, and their difference";
      }),
  },
  {
    name: "4 many trees with one set of gradients",
    codes: ["POLICY", "HANDSHAKE_MISMATCH"],
    run: (arena) =>
      played(arena, async (puppet) => {
        await puppet.begin({ parameters: { ...puppet.agreed, numRound: 1, treesPerRound: 20 } });
        await puppet.gradients(0);
        for (let tree = 0; tree < 3; tree++) {
          await puppet.root(tree);
          await puppet.node(tree, 1, {
            parent: 0,
            sibling: 2,
            members: membersWhere((person) => person % 7 < tree + 2),
          });
          await puppet.peer.finishTree({ tree }, {});
        }
        return "sums of the same marks over as many groups as it likes";
      }),
  },
  {
    name: "5 members that are not those of the party's own split",
    codes: ["PROTOCOL_STATE"],
    run: (arena) =>
      played(arena, async (puppet) => {
        await puppet.begin();
        await puppet.gradients(0);
        await puppet.root(0);
        const left = await puppet.split(0, 0, 0);
        await puppet.node(0, 1, { parent: 0, sibling: 2, members: left.map((bits, i) => (i === 0 ? bits ^ 3 : bits)) });
        return "sums over people of its own choice";
      }),
  },
  {
    name: "5 the same ciphertexts for many people",
    codes: ["PROTOCOL_STATE", "POLICY", "CIPHERTEXT_RANGE"],
    run: (arena) =>
      played(arena, async (puppet) => {
        await puppet.begin();
        await puppet.gradients(0, repeated);
        await puppet.root(0);
        return "sums of marks that a gradient cannot be";
      }),
  },
  {
    name: "7 validation rows that leave one person to decide the bins",
    codes: ["POLICY"],
    run: (arena) =>
      played(arena, async (puppet) => {
        await puppet.begin({ validationRows: membersWhere((person) => person > 0) });
        return "a person's values";
      }),
  },
  {
    name: "11 a modulus whose factors divide the order of the group",
    codes: ["KEY_FORMAT", "POLICY", "PROTOCOL_STATE", "HANDSHAKE_MISMATCH"],
    run: (arena) =>
      played(arena, async (puppet) => {
        await puppet.join();
        await puppet.setUp(await changedSetUp(puppet, { modulus: bigEndianBytes(badModulus(256)) }));
        return "which ciphertexts were summed";
      }),
  },
  {
    name: "17 a sample with validation rows",
    codes: ["PROTOCOL_STATE"],
    run: (arena) =>
      played(arena, async (puppet) => {
        await puppet.begin({ validationRows: membersWhere((person) => person % 4 === 0) });
        await puppet.gradients(0, (chunk) => (chunk.sampled = membersWhere(() => true)));
        return "sums over people who were to be held back";
      }),
  },
];
