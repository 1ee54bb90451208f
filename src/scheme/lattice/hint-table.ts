/** Receives the hints of one passive party: consecutive candidates, each once. */
import { TandemError } from "../../base/error.ts";
import { hintCountMax } from "../../crypto/lattice/parameters/distance.ts";
import type { Lattice } from "../../crypto/lattice/kernel.ts";
import type { PartyHints } from "../../crypto/lattice/inner-products.ts";
import { wordBytes } from "../../crypto/lattice/parameters/sets.ts";
import { LatticeHintsSchema } from "../../wire/generated/tandem/v1/lattice_pb.ts";
import { decodeMessage } from "../../wire/scheme-message.ts";

/**
 * @param candidatesMax the number of candidates that the party announced
 * @throws TandemError PROTOCOL_STATE for inconsistent pieces
 */
export async function takeHints(
  lattice: Lattice,
  candidatesMax: number,
  pieces: AsyncIterable<Uint8Array>,
): Promise<PartyHints> {
  const { set } = lattice.shape;
  const size = wordBytes(set) * set.degree;
  let hints: PartyHints | null = null;
  let next = 0;
  for await (const piece of pieces) {
    const { firstCandidate, candidateCount, words } = decodeMessage(LatticeHintsSchema, piece);
    if (candidateCount > Math.min(candidatesMax, hintCountMax(set)))
      throw new TandemError("PROTOCOL_STATE", "hints for more candidates than the party has");
    const isFirst = hints === null;
    hints ??= { candidateCount, table: new BigUint64Array(lattice.tableSize(candidateCount)) };
    const count = words.length / size;
    const fits =
      candidateCount === hints.candidateCount &&
      firstCandidate === next &&
      Number.isInteger(count) &&
      (count > 0 || (candidateCount === 0 && isFirst)) &&
      next + count <= candidateCount;
    if (!fits) throw new TandemError("PROTOCOL_STATE", `hints are not consecutive at candidate ${next}`);
    if (count > 0) await lattice.loadHints(words, firstCandidate, hints.table);
    next += count;
  }
  if (hints === null || next !== hints.candidateCount)
    throw new TandemError("PROTOCOL_STATE", "hints for fewer candidates than were announced");
  return hints;
}
