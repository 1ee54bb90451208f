/** The state of an attempt at a job: its phase and the current tree. Each message is accepted in its phase only. */
import { TandemError } from "../../base/error.ts";
import type { Phase as Work } from "../phase.ts";
import type { PassiveJob } from "./job.ts";

/**
 * "loading": a round begins; "growing": nodes of a tree are answered; "storing": the tree ends; "finished": success;
 * "given up": failure.
 */
export type Phase = "waiting" | "joined" | "ready" | "loading" | "growing" | "storing" | "finished" | "given up";

export class Course {
  phase: Phase = "waiting";
  /** The current tree, or the last one that both parties have, including those of local rounds. */
  tree: number;
  /** How often nodes of the current tree were requested. */
  level = 0;
  readonly #job: Pick<PassiveJob, "name" | "observer">;

  constructor(job: Pick<PassiveJob, "name" | "observer">, tree: number) {
    this.#job = job;
    this.tree = tree;
  }

  /** Whether a tree comes right after the current one, or is about to begin. */
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
