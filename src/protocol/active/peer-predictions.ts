/** One passive party's predictions for rows after training: outcomes of its splits, or masked scores. */
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { MaskedPeer } from "../../scheme/masked/mask-channel.ts";
import { checkBitmap } from "../../wire/bitmap.ts";
import type { ActivePredictSchema } from "../../wire/generated/tandem/v1/tandem_pb.ts";
import { splitKey } from "../split-key.ts";
import type { PeerConnection } from "./peer-connection.ts";

export class PeerPredictions {
  readonly #connection: PeerConnection;

  constructor(connection: PeerConnection) {
    this.#connection = connection;
  }

  get name(): string {
    return this.#connection.name;
  }

  /** Fixes the ids of all rows that will be predicted: the job allows no others afterwards. */
  async testRows(chunks: readonly (readonly string[])[]): Promise<void> {
    const { tally, peer, options } = this.#connection;
    async function* messages(): AsyncGenerator<{ ids: string[] }> {
      for (const ids of chunks) {
        tally.see("predicted ids", ids);
        yield { ids: [...ids] };
      }
    }
    await this.#connection.guard(peer.testRows(messages(), options));
  }

  /**
   * The outcome of each of the party's splits, as a bitmap over `rowCount` rows.
   * @param splits the keys of all its splits: exactly these are accepted
   */
  predict(firstRow: number, rowCount: number, splits: ReadonlySet<string>): Promise<Map<string, Uint8Array>> {
    return this.#outcomes({ firstRow, rowCount }, rowCount, splits);
  }

  /** The same for the splits of a start model, over all instances of the job in their order. */
  async predictStart(instanceCount: number, splits: ReadonlySet<string>): Promise<Map<string, Uint8Array>> {
    return splits.size === 0 ? new Map() : this.#outcomes({ startInstances: true }, instanceCount, splits);
  }

  /** The party's masked scoring interface for `rowCount` rows. */
  masked(rowCount: number): MaskedPeer {
    const { name, peer, tally, options } = this.#connection;
    return {
      name,
      maskOpen: (request) => this.#connection.guard(peer.maskOpen(request, options)),
      maskStep: async (request) => {
        const { batch = 0, rows } = request;
        const answer = await this.#connection.guard(peer.maskStep(request, options));
        if (batch > 0 && rows === undefined) tally.see("scores", rowCount, answer.scheme);
        return answer;
      },
    };
  }

  async #outcomes(
    request: MessageInitShape<typeof ActivePredictSchema>,
    rowCount: number,
    splits: ReadonlySet<string>,
  ): Promise<Map<string, Uint8Array>> {
    const { peer, tally, options } = this.#connection;
    const outcomes = new Map<string, Uint8Array>();
    await this.#connection.each(peer.predict(request, options), (outcome) => {
      const { tree, node, leftMembers } = outcome;
      const key = splitKey(tree, node);
      if (!splits.has(key) || outcomes.has(key))
        throw this.#connection.deviates("the outcome of a split that is not its own");
      checkBitmap(leftMembers, rowCount);
      tally.see("prediction", outcome, rowCount);
      outcomes.set(key, leftMembers);
    });
    if (outcomes.size !== splits.size)
      throw this.#connection.deviates(`the outcomes of ${outcomes.size} of its ${splits.size} splits`);
    return outcomes;
  }
}
