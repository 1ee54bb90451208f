/** A passive half of masked scoring by oblivious transfer (oblivious-transfer.ts): it receives, then sends onwards. */
import { TandemError } from "../../base/error.ts";
import { derivedRandom, derivedSecretBytes, osRandom } from "../../base/random.ts";
import {
  agreedKey,
  type AgreementKey,
  baseReceiverKeys,
  baseSenderKeys,
  newAgreementKey,
} from "../../crypto/transfer/base-ot.ts";
import { bytesOf, Streams } from "../../crypto/transfer/block-cipher.ts";
import { matrixBytes, type PendingTransfer, TransferReceiver, TransferSender } from "../../crypto/transfer/iknp-ot.ts";
import type { Shape } from "../../crypto/transfer/product-kernel.ts";
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
import { messageBytesMax } from "../../wire/version.ts";
import { limbsMax } from "./exact-weights.ts";
import { selectProductKernel } from "../../crypto/transfer/select-product-kernel.ts";
import type { OwnConditions, PassiveMasking, PendingSums } from "./masking.ts";
import { addScoreNoise } from "./score-noise.ts";
import { pickBits, ShareVector } from "./share-vector.ts";

const partiesMax = 64;

/** Separates the keys of different pairs. */
export function baseContext(sender: number, receiver: number): string {
  return `scoring ${sender} to ${receiver}`;
}

/** Another passive party, and the indices of own conditions in products that have its conditions too. */
interface Other {
  readonly party: number;
  readonly places: Uint32Array;
}

export class TransferPassive implements PassiveMasking {
  readonly opening: Uint8Array;
  readonly #party: number;
  readonly #shape: Shape;
  readonly #conditionCount: number;
  readonly #runs: readonly number[];
  readonly #scoreNoise: number;
  /** The parties that send to this one, the active party first; and those that it sends to. */
  readonly #from: readonly Other[];
  readonly #to: readonly Other[];
  readonly #base: AgreementKey = newAgreementKey();
  readonly #agreement: AgreementKey = newAgreementKey();
  #senders: readonly TransferSender[] | null = null;
  #receivers: readonly TransferReceiver[] | null = null;
  /** Streams that this party and another add and subtract. */
  #zeros: readonly { readonly sign: 1 | -1; readonly stream: Streams }[] = [];

  constructor(opening: Uint8Array, { conditionCount, runs, outputsMax, scoreNoise }: OwnConditions) {
    const { party, width, limbs, senders, receivers } = decodeMessage(TransferOpenSchema, opening);
    const isShape = limbs >= 1 && width >= limbs && width % limbs === 0;
    const isPlace = party >= 1 && party <= partiesMax && senders.length === party - 1;
    if (!isShape || !isPlace || receivers.length > partiesMax)
      throw new TandemError("PROTOCOL_STATE", "the opening of masked scoring is not valid");
    checkSize({ width, limbs }, { runs, outputsMax, scoreNoise });
    this.#party = party;
    this.#shape = { width, limbs };
    this.#conditionCount = conditionCount;
    this.#runs = runs;
    this.#scoreNoise = scoreNoise;
    const placesOf = (places: readonly number[]): Uint32Array => checkedPlaces(places, conditionCount);
    this.#from = [
      { party: 0, places: Uint32Array.from({ length: conditionCount }, (_, i) => i) },
      ...senders.map(({ places }, i) => ({ party: i + 1, places: placesOf(places) })),
    ];
    this.#to = receivers.map(({ places }, i) => ({ party: party + 1 + i, places: placesOf(places) }));
    this.opening = encodeMessage(TransferKeysSchema, {
      base: this.#base.publicKey,
      agreement: this.#agreement.publicKey,
    });
  }

  async setUp(message: Uint8Array): Promise<Uint8Array> {
    if (this.#receivers !== null) throw new TandemError("PROTOCOL_STATE", "masked scoring is set up already");
    if (this.#senders === null && this.#from.length + this.#to.length > 1) return this.#introduce(message);
    const { choices } = decodeMessage(TransferChoicesSchema, message);
    checkCount(choices, this.#from.length);
    const receivers: TransferReceiver[] = [];
    for (const [i, { party }] of this.#from.entries())
      receivers.push(
        new TransferReceiver(
          await baseSenderKeys(this.#base, choices[i], baseContext(party, this.#party)),
          selectProductKernel(),
        ),
      );
    this.#senders ??= [];
    this.#receivers = receivers;
    return new Uint8Array(0);
  }

  async #introduce(message: Uint8Array): Promise<Uint8Array> {
    const { agreements, bases } = decodeMessage(TransferIntroductionSchema, message);
    const others = [...this.#from.slice(1), ...this.#to];
    checkCount(agreements, others.length);
    checkCount(bases, this.#to.length);
    this.#zeros = others.map(({ party }, i) => {
      const [low, high] = [Math.min(party, this.#party), Math.max(party, this.#party)];
      const key = agreedKey(this.#agreement, agreements[i], `zero of ${low} and ${high}`);
      return { sign: this.#party === low ? 1 : -1, stream: new Streams([key]) };
    });
    const choices: Uint8Array[] = [];
    const senders: TransferSender[] = [];
    for (const [i, { party }] of this.#to.entries()) {
      const chosen = await baseReceiverKeys(bases[i], baseContext(this.#party, party), osRandom);
      choices.push(chosen.points);
      senders.push(new TransferSender(chosen, selectProductKernel()));
    }
    this.#senders = senders;
    return encodeMessage(TransferChoicesSchema, { choices });
  }

  checkRows(rowCount: number): void {
    const { width } = this.#shape;
    const [incoming, outgoing] = [this.#from, this.#to].map((others) =>
      others.reduce((bytes, { places }) => bytes + matrixBytes(places.length * rowCount), 0),
    );
    const received = this.#from.reduce((count, { places }) => count + places.length * rowCount, 0);
    const bytes = Math.max(incoming, received * 4 * width, outgoing);
    if (bytes > messageBytesMax)
      throw new TandemError("PROTOCOL_STATE", `${rowCount} rows do not fit one message of masked scoring`);
  }

  async begin(batch: number, bits: Uint8Array): Promise<PendingSums> {
    if (this.#receivers === null) throw new TandemError("PROTOCOL_STATE", "masked scoring is not set up");
    const rowCount = bits.length / this.#conditionCount;
    const pending: PendingTransfer[] = [];
    for (const [i, { places }] of this.#from.entries())
      pending.push(await this.#receivers[i].begin(batch, pickBits(bits, places, rowCount), this.#shape));
    const message = encodeMessage(TransferMatricesSchema, { matrices: pending.map(({ matrix }) => matrix) });
    return { message, finish: (corrections) => this.#finish(batch, rowCount, pending, corrections) };
  }

  async #finish(
    batch: number,
    rowCount: number,
    pending: readonly PendingTransfer[],
    message: Uint8Array,
  ): Promise<Uint8Array> {
    const { corrections, matrices } = decodeMessage(TransferCorrectionsSchema, message);
    checkCount(corrections, this.#from.length);
    checkCount(matrices, this.#to.length);
    const { width, limbs } = this.#shape;
    const stride = rowCount * width;
    // The active party sends to all conditions, other parties to some.
    const [ofActive, ...ofOthers] = pending.map((transfer, i) => transfer.finish(corrections[i]));
    const shares = new ShareVector(ofActive, limbs, stride);
    ofOthers.forEach((more, i) => shares.add(this.#from[i + 1].places, more));
    const onwards: Uint8Array[] = [];
    for (const [i, { places }] of this.#to.entries()) {
      const sender = this.#senders?.[i];
      if (sender === undefined) throw new TandemError("PROTOCOL_STATE", "masked scoring is not set up");
      const sent = await sender.multiply(batch, shares.pick(places), matrices[i], this.#shape);
      shares.replace(places, sent.kept);
      onwards.push(sent.corrections);
    }
    const sums = shares.sums(this.#runs, width);
    for (const { sign, stream } of this.#zeros)
      addResidues(sums, stream.columns({ batch, block: 0 }, sums.length), limbs, sign);
    if (this.#scoreNoise > 0)
      addScoreNoise(sums, this.#scoreNoise, derivedRandom(osRandom.fill(new Uint8Array(derivedSecretBytes)), 0));
    return encodeMessage(TransferSumsSchema, { sums: bytesOf(sums), corrections: onwards });
  }
}

/** A wider sum, or more sums of a row, would carry more outcomes than scores of the model do. */
function checkSize(
  { width, limbs }: Shape,
  { runs, outputsMax, scoreNoise }: Pick<OwnConditions, "runs" | "outputsMax" | "scoreNoise">,
): void {
  const allowed = scoreNoise > 0 ? 1 : limbsMax;
  if (limbs > allowed)
    throw new TandemError("PROTOCOL_STATE", `sums of ${limbs} limbs requested; at most ${allowed} are allowed`);
  const outputs = runs.length * (width / limbs);
  if (outputs > outputsMax)
    throw new TandemError(
      "PROTOCOL_STATE",
      `${outputs} sums per row requested; the model may have at most ${outputsMax} outputs`,
    );
}

function checkedPlaces(places: readonly number[], count: number): Uint32Array {
  if (!places.every((place, i) => place < count && (i === 0 || place > places[i - 1])))
    throw new TandemError("PROTOCOL_STATE", "indices of conditions are out of range or not ascending");
  return Uint32Array.from(places);
}

function checkCount(parts: readonly Uint8Array[], expected: number): void {
  if (parts.length !== expected)
    throw new TandemError(
      "PROTOCOL_STATE",
      `a message of masked scoring has ${parts.length} parts instead of ${expected}`,
    );
}
