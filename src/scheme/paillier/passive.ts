/**
 * The passive half of the Paillier scheme. Blocks store the tree's encrypted gradients and add them up per bin
 * (block.ts); this half adds up per candidate side, packs the sums and re-randomises what it returns. It holds a public
 * key only.
 *
 * Re-randomisation hides from the key owner which instances were summed, so packing multiplies with fresh r^n, with r
 * from the OS. It accepts n only with a proof that this leaves nothing but the sums (crypto/paillier/modulus-proof.ts).
 * Noise, and random bits next to the sums, are added to the packed ciphertexts (added-plaintexts.ts).
 */
import { TandemError } from "../../base/error.ts";
import { inOrder } from "../../base/scheduling/in-order.ts";
import { maskBitsIn } from "../../codec/layout.ts";
import { type SumPacking, sumPacking } from "../../codec/packing.ts";
import type { Kernel, PublicEvaluator } from "../../crypto/paillier/kernel.ts";
import { checkModulusProof } from "../../crypto/paillier/modulus-proof.ts";
import type { ResidentVector } from "../../crypto/paillier/vectors.ts";
import { PaillierBlockTermsSchema } from "../../wire/generated/tandem/v1/blocks_pb.ts";
import {
  PaillierGradientsSchema,
  PaillierSetUpSchema,
  PaillierSumsSchema,
} from "../../wire/generated/tandem/v1/paillier_pb.ts";
import { PaillierTaskTermsSchema } from "../../wire/generated/tandem/v1/tasks_pb.ts";
import { decodeMessage, encodeMessage } from "../../wire/scheme-message.ts";
import { EmbeddedCrew } from "../blocks/embedded-crew.ts";
import { AttemptCrew } from "../blocks/attempt-crew.ts";
import { SentBlocks } from "../blocks/sent-blocks.ts";
import type { Crew } from "../blocks/crew.ts";
import { planAdditions, widened } from "../candidates/candidate-plan.ts";
import type { SentTask } from "../candidates/node-task.ts";
import type { SentNodes } from "../candidates/sent-nodes.ts";
import { noOperations, type SumsPiece } from "../scheme.ts";
import { SeenCiphertexts } from "../seen-ciphertexts.ts";
import type { SentPassive, SentPassiveJob } from "../sent-scheme.ts";
import { type Addition, addedPlaintexts } from "./added-plaintexts.ts";
import { PaillierBlock, paillierCells } from "./block.ts";
import { checkedPublicKey } from "./received-key.ts";
import { checkedLayout } from "./received-layout.ts";
import { paillierSchemeName } from "./scheme-name.ts";
import { TaskPublicEvaluator } from "./tasks/task-public.ts";
import { UnusedRoom } from "./unused-room.ts";

/** Packed ciphertexts sent at a time: the active party decrypts them while the next are being packed. */
export const ciphertextsPerPiece = 32;
/** Pieces finished at a time by workers. */
const piecesElsewhere = 4;

/** What is fixed for the job once the key is known. */
interface SetUpState {
  readonly evaluator: PublicEvaluator;
  readonly ciphertextsPerInstance: number;
  readonly packing: SumPacking;
  readonly addition: Addition;
  readonly gradients: SentBlocks<ResidentVector>;
}

interface RoundState {
  /** The number of sampled instances. */
  readonly sampled: number;
  /** How many of their gradients have been received. */
  instancesLoaded: number;
  readonly seen: SeenCiphertexts;
  readonly room: UnusedRoom;
}

export class PaillierPassive implements SentPassive {
  readonly membership = "sent";
  readonly counts = noOperations();
  readonly #kernel: Kernel;
  readonly #threads: number;
  readonly #crew: AttemptCrew;
  #state: SetUpState | null = null;
  #round: RoundState | null = null;

  /** @param crew holds the rows; left out: this process */
  constructor(kernel: Kernel, threads: number, crew?: Crew) {
    this.#kernel = kernel;
    this.#threads = threads;
    this.#crew = new AttemptCrew(crew ?? new EmbeddedCrew((data) => new PaillierBlock(kernel, data, threads)));
  }

  async setUp(message: Uint8Array, job: SentPassiveJob): Promise<Uint8Array> {
    const { modulus, ciphertextsPerInstance, plaintextBits, packing, jointBins, roots } = decodeMessage(
      PaillierSetUpSchema,
      message,
    );
    const key = checkedPublicKey(modulus, job.parameters["keyBits"]);
    if (ciphertextsPerInstance < 1 || ciphertextsPerInstance > 1024 || plaintextBits < 1 || plaintextBits >= key.bits) {
      throw new TandemError("PROTOCOL_STATE", "the set-up message has an invalid layout");
    }
    const layout = checkedLayout({ ciphertextsPerInstance, plaintextBits, packing }, job, key.bits);
    const own = this.#kernel.publicEvaluator(key, { threads: this.#threads });
    await checkModulusProof(own, roots);
    const sumsPacking = sumPacking(plaintextBits, key.bits, packing);
    this.#state?.gradients.close();
    const blocks = await this.#crew.open({
      scheme: paillierSchemeName,
      terms: encodeMessage(PaillierBlockTermsSchema, { modulus, keyBits: key.bits, ciphertextsPerInstance, jointBins }),
      taskTerms: encodeMessage(PaillierTaskTermsSchema, {
        key: { case: "modulus", value: modulus },
        keyBits: key.bits,
      }),
      rowCount: job.instanceCount,
      columns: job.columns,
    });
    const evaluator = blocks.tasks ? new TaskPublicEvaluator(own, blocks.tasks) : own;
    this.#state = {
      evaluator,
      ciphertextsPerInstance,
      packing: sumsPacking,
      addition: { layout, packing: sumsPacking, key },
      gradients: new SentBlocks(blocks, ciphertextsPerInstance * key.ciphertextBytes, paillierCells(evaluator)),
    };
    return message;
  }

  get maskBits(): number {
    return maskBitsIn(this.#setUpState().addition.layout);
  }

  beginRound(tree: SentNodes): void {
    const { ciphertextsPerInstance, gradients } = this.#setUpState();
    const sampled = tree.sample.count;
    const seen = new SeenCiphertexts(sampled * ciphertextsPerInstance);
    this.#round = { sampled, instancesLoaded: 0, seen, room: new UnusedRoom() };
    gradients.beginRound(tree);
  }

  nextTree(tree: SentNodes): void {
    this.#roundState();
    this.#setUpState().gradients.nextTree(tree);
  }

  async gradients(message: Uint8Array): Promise<number> {
    const { evaluator, ciphertextsPerInstance, gradients } = this.#setUpState();
    const round = this.#roundState();
    const { ciphertexts, firstInstance } = decodeMessage(PaillierGradientsSchema, message);
    const width = evaluator.key.ciphertextBytes;
    const count = ciphertexts.length / (width * ciphertextsPerInstance);
    const continues = firstInstance === round.instancesLoaded;
    if (!continues || !Number.isInteger(count) || count < 1 || firstInstance + count > round.sampled) {
      throw new TandemError(
        "PROTOCOL_STATE",
        `a chunk of gradients at instance ${firstInstance} does not continue at ${round.instancesLoaded}`,
      );
    }
    await gradients.load(firstInstance, ciphertexts);
    round.seen.add(ciphertexts, width);
    round.instancesLoaded += count;
    this.counts.gradientCiphertexts += count * ciphertextsPerInstance;
    return count * ciphertextsPerInstance;
  }

  async endOfGradients(): Promise<void> {
    const { instancesLoaded, sampled, seen } = this.#roundState();
    if (instancesLoaded !== sampled)
      throw new TandemError(
        "PROTOCOL_STATE",
        `gradients of ${instancesLoaded} instances arrived; ${sampled} were expected`,
      );
    if (seen.hasRepeats())
      throw new TandemError("PROTOCOL_STATE", "a round's gradients contain the same ciphertext twice");
    await this.#setUpState().gradients.loaded();
  }

  async *sums(task: SentTask, summed?: () => void): AsyncGenerator<SumsPiece> {
    const { evaluator, ciphertextsPerInstance: width, packing, addition, gradients } = this.#setUpState();
    const { plan, counts } = task;
    if (counts.length === 0) return;
    const bins = await gradients.sums(task);
    if (gradients.isElsewhere) summed?.();
    const targetCount = counts.length * width;
    const sums = await evaluator.runningSums({ source: bins, targetCount, ...widened(plan, width) });
    this.counts.additions += planAdditions(plan, task.binCounts) * width;
    await evaluator.clear(sums, suppressedElements(task.suppressed, width));

    const room = this.#roundState().room.ofNode(task.positions);
    const candidatesPerPiece = ciphertextsPerPiece * packing.perCiphertext; // whole ciphertexts, whatever the codec
    const firsts = Array.from(
      { length: Math.ceil(counts.length / candidatesPerPiece) },
      (_, piece) => piece * candidatesPerPiece,
    );
    yield* inOrder(firsts, gradients.isElsewhere ? piecesElsewhere : 1, async (first) => {
      const candidateCount = Math.min(candidatesPerPiece, counts.length - first);
      const source = evaluator.slice(sums, first * width, candidateCount * width);
      const packed = await evaluator.pack({ source, ...packing });
      const added = addedPlaintexts(addition, room, await evaluator.unload(source), task, first, candidateCount);
      const { bytes: ciphertexts } = await evaluator.unload(await evaluator.addPlaintexts(packed, added));
      this.counts.additions += source.count - packed.count;
      this.counts.candidateCiphertexts += packed.count;
      return { candidateCount, message: encodeMessage(PaillierSumsSchema, { ciphertexts }) };
    });
  }

  close(): void {
    this.#crew.end();
    this.#state?.gradients.close();
  }

  #setUpState(): SetUpState {
    if (this.#state === null) throw new TandemError("PROTOCOL_STATE", "the scheme is not set up");
    return this.#state;
  }

  #roundState(): RoundState {
    if (this.#round === null) throw new TandemError("PROTOCOL_STATE", "no tree has been started");
    return this.#round;
  }
}

/** The elements of suppressed candidates among all sums, `width` per candidate. */
function suppressedElements(suppressed: Uint8Array, width: number): Uint32Array {
  const elements: number[] = [];
  for (const [position, isSuppressed] of suppressed.entries()) {
    if (isSuppressed === 0) continue;
    for (let j = 0; j < width; j++) elements.push(position * width + j);
  }
  return Uint32Array.from(elements);
}
