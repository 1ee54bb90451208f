/** The active half of masked scoring by oblivious transfer (oblivious-transfer.ts): it sends, and relays. */
import { TandemError } from "../../base/error.ts";
import { osRandom } from "../../base/random.ts";
import { baseReceiverKeys, type BaseReceiverKeys } from "../../crypto/transfer/base-ot.ts";
import { words } from "../../crypto/transfer/block-cipher.ts";
import { matrixBytes, transferBytes, TransferSender } from "../../crypto/transfer/iknp-ot.ts";
import { addResidues } from "../../crypto/transfer/residues.ts";
import {
  TransferChoicesSchema,
  TransferCorrectionsSchema,
  TransferIntroductionSchema,
  TransferKeysSchema,
  TransferMatricesSchema,
  TransferOpenSchema,
  TransferSumsSchema,
} from "../../wire/generated/tandem/v1/masked_pb.ts";
import { decodeMessage, encodeMessage } from "../../wire/scheme-message.ts";
import { selectProductKernel } from "../../crypto/transfer/select-product-kernel.ts";
import type { ActiveMasking, PartyChannel } from "./masking.ts";
import type { Products } from "./products.ts";
import { ShareVector } from "./share-vector.ts";
import { baseContext } from "./transfer-passive.ts";

export class TransferActive implements ActiveMasking {
  readonly rowBytesMax: number;
  readonly messageExtraBytes: number;
  readonly #products: Products;
  readonly #shape: { readonly width: number; readonly limbs: number };
  /** Per pair of passive parties, the first of which sends: how many products they share. */
  readonly #common: readonly (readonly number[])[];
  #senders: readonly TransferSender[] = [];

  constructor(products: Products) {
    const { width, weights, parties } = products;
    this.#products = products;
    this.#shape = { width, limbs: weights.limbs };
    this.#common = parties.map((_, a) => parties.map((_other, b) => this.#shared(a, b).length));
    const perRow = parties.map(({ products: own }, p) => {
      const incoming = own.length + total(this.#common[p].slice(0, p));
      const outgoing = total(this.#common[p].slice(p + 1));
      // Matrices that it sends, or corrections for it with matrices of later ones; its answer is never larger.
      return Math.max(transferBytes * incoming, 4 * width * incoming + transferBytes * outgoing);
    });
    this.rowBytesMax = Math.max(0, ...perRow) + 4 * products.rowWords;
    this.messageExtraBytes = (parties.length + 1) * (matrixBytes(1) + 16);
  }

  opening(party: number): Uint8Array {
    const others = this.#products.parties.map((_, other) => ({ places: [...this.#shared(party, other)] }));
    return encodeMessage(TransferOpenSchema, {
      party: party + 1,
      ...this.#shape,
      senders: others.slice(0, party),
      receivers: others.slice(party + 1),
    });
  }

  async setUp(answers: readonly Uint8Array[], parties: readonly PartyChannel[]): Promise<void> {
    const keys = answers.map((answer) => decodeMessage(TransferKeysSchema, answer));
    const own: BaseReceiverKeys[] = [];
    for (const [party, { base }] of keys.entries())
      own.push(await baseReceiverKeys(base, baseContext(0, party + 1), osRandom));
    const choices = keys.map((_, party) => [own[party].points]);
    if (keys.length > 1) {
      for (const party of keys.keys()) {
        const introduction = encodeMessage(TransferIntroductionSchema, {
          agreements: keys.filter((_, other) => other !== party).map(({ agreement }) => agreement),
          bases: keys.slice(party + 1).map(({ base }) => base),
        });
        const said = decodeMessage(TransferChoicesSchema, await parties[party].send(introduction)).choices;
        checkCount(said, keys.length - party - 1);
        said.forEach((points, i) => choices[party + 1 + i].push(points));
      }
    }
    await Promise.all(
      choices.map((points, party) => parties[party].send(encodeMessage(TransferChoicesSchema, { choices: points }))),
    );
    this.#senders = own.map((chosen) => new TransferSender(chosen, selectProductKernel()));
  }

  async sums(
    batch: number,
    values: Uint32Array,
    begun: readonly Uint8Array[],
    channels: readonly PartyChannel[],
  ): Promise<Uint32Array> {
    const { parties, count, runs, rowWords } = this.#products;
    const { width, limbs } = this.#shape;
    const stride = values.length / count;
    const shares = new ShareVector(values, limbs, stride);
    const matrices = begun.map((answer, party) => {
      const sent = decodeMessage(TransferMatricesSchema, answer).matrices;
      checkCount(sent, party + 1);
      return sent;
    });
    const corrections: Uint8Array[][] = [];
    for (const [party, { products }] of parties.entries()) {
      const sent = await this.#senders[party].multiply(batch, shares.pick(products), matrices[party][0], this.#shape);
      shares.replace(products, sent.kept);
      corrections.push([sent.corrections]);
    }
    const sums = shares.sums(runs, width);
    for (const party of parties.keys()) {
      // Matrix 0 of each party is for the active party, then one for each earlier passive party.
      const later = matrices.slice(party + 1).map((sent) => sent[party + 1]);
      const question = encodeMessage(TransferCorrectionsSchema, { corrections: corrections[party], matrices: later });
      const answer = decodeMessage(TransferSumsSchema, await channels[party].send(question));
      checkCount(answer.corrections, later.length);
      answer.corrections.forEach((sent, i) => corrections[party + 1 + i].push(sent));
      if (answer.sums.length !== (stride / width) * rowWords * 4)
        throw new TandemError("PROTOCOL_STATE", "sums are not those of the rows asked about");
      addResidues(sums, words(answer.sums), limbs);
    }
    return sums;
  }

  /** The indices of party a's conditions whose products have a condition of party b too. */
  #shared(a: number, b: number): Uint32Array {
    const { parties } = this.#products;
    const theirs = new Set(parties[b].products);
    return Uint32Array.from(parties[a].products.keys()).filter((i) => theirs.has(parties[a].products[i]));
  }
}

function checkCount(parts: readonly Uint8Array[], expected: number): void {
  if (parts.length !== expected)
    throw new TandemError(
      "PROTOCOL_STATE",
      `a message of masked scoring has ${parts.length} parts instead of ${expected}`,
    );
}

function total(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0);
}
