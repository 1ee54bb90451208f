/** The state of a passive party between attempts, in memory: progress, digests of gradients and nodes, and answers. */
import { noProgress, type PassiveProgress } from "../../src/protocol/passive/answered-splits.ts";
import type { AnsweredNode, NodeJournal } from "../../src/protocol/hidden/passive-answered-nodes.ts";
import type { RoundStore, SignedGradients, StoredAnswer } from "../../src/protocol/passive/round-store.ts";

/** Answers only: the gradients of each attempt may have other nonces. */
export function keptAnswers(): RoundStore {
  return { ...new PassiveDisk(), readGradients: async () => [] };
}

export class PassiveDisk implements RoundStore {
  progress: PassiveProgress = noProgress;
  readonly gradients: SignedGradients[] = [];
  readonly refused: SignedGradients[] = [];
  readonly nodes: AnsweredNode[] = [];
  readonly nodeJournal: NodeJournal = {
    read: async () => this.nodes,
    add: async (nodes) => void this.nodes.push(...nodes),
  };
  readonly answers = new Map<number, StoredAnswer[]>();

  readonly store = async (progress: PassiveProgress): Promise<void> => {
    this.progress = structuredClone(progress) as PassiveProgress;
  };
  readonly readAnswers = async (round: number, part: number) => (part === 0 ? (this.answers.get(round) ?? null) : null);
  readonly addAnswers = async (round: number, _part: number, answers: readonly StoredAnswer[]): Promise<void> => {
    this.answers.set(round, [...(this.answers.get(round) ?? []), ...answers]);
  };
  readonly readGradients = async () => this.gradients;
  readonly addGradients = async (gradients: readonly SignedGradients[]): Promise<void> => {
    this.gradients.push(...gradients);
  };
  readonly refuseGradients = async (gradients: SignedGradients): Promise<void> => {
    this.refused.push(gradients);
  };
  readonly forget = async (round: number): Promise<void> => {
    this.answers.delete(round);
  };
}
