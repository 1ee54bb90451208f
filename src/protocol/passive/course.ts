/** Where an attempt at a job is: its phase, and the tree under way. Each message is taken in its phase only. */
import { TandemError } from "../../base/error.ts";
import type { Phase as Work } from "../phase.ts";
import type { PassiveJob } from "./job.ts";

/**
 * What the party is doing: "loading" begins a round, "growing" answers for a tree's nodes, "storing" ends the tree;
 * "finished" has ended well, "given up" has not.
 */
export type Phase = "waiting" | "joined" | "ready" | "loading" | "growing" | "storing" | "finished" | "given up";

export class Course {
  phase: Phase = "waiting";
  /** The tree under way, or the last one that both sides have, the active party's own among them. */
  tree: number;
  /** How often nodes of the current tree were asked for. */
  level = 0;
  readonly #job: Pick<PassiveJob, "name" | "observer">;

  constructor(job: Pick<PassiveJob, "name" | "observer">, tree: number) {
    this.#job = job;
    this.tree = tree;
  }

  /** Whether a tree is the one after the tree under way, or is about to begin. */
  isNext(tree: number): boolean {
    const next = this.phase === "loading" ? this.tree : this.tree + 1;
    return tree === next && ["ready", "loading", "growing", "storing"].includes(this.phase);
  }

  expect(...phases: readonly Phase[]): void {
    if (!phases.includes(this.phase))
      throw new TandemError("PROTOCOL_STATE", `${this.#job.name} is ${this.phase} and cannot take this message now`);
  }

  expectTree(tree: number): void {
    this.expect("growing");
    if (tree !== this.tree)
      throw new TandemError("PROTOCOL_STATE", `${this.#job.name} is at tree ${this.tree}, not ${tree}`);
  }

  edge(phase: Work, began: boolean): void {
    const { name: party, observer } = this.#job;
    observer.phase?.({ party, phase, began, tree: this.tree, level: this.level });
  }
}
