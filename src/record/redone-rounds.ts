/**
 * How often a gradient round was begun, lost and repeated, because a party, its workers or the engine between them were
 * lost. Runs in browsers too.
 */
import type { PartyEvent } from "./events.ts";

export interface RoundsSoFar {
  readonly treesDone: number;
  /** The next round has begun. */
  readonly hasBegun: boolean;
  readonly redone: number;
}

export const noRounds: RoundsSoFar = { treesDone: 0, hasBegun: false, redone: 0 };

export function withRoundEvent(rounds: RoundsSoFar, event: PartyEvent): RoundsSoFar {
  const { treesDone, hasBegun, redone } = rounds;
  switch (event.type) {
    case "progress":
      return hasBegun || event.tree < treesDone ? rounds : { ...rounds, hasBegun: true };
    case "tree":
    case "passive-tree":
      return {
        treesDone: event.tree + 1,
        hasBegun: false,
        redone: redone + (event.tree < treesDone ? 1 : 0), // it was finished before, but not stored by every party
      };
    case "joined": // sent with each attempt
      return hasBegun ? { ...rounds, hasBegun: false, redone: redone + 1 } : rounds;
    case "resumed":
      return { ...rounds, treesDone: event.trees, redone: redone + Math.max(0, treesDone - event.trees) };
    default:
      return rounds;
  }
}
