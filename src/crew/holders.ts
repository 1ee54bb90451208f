/** Who holds a party's blocks, as far as it has heard; and which of them it waits for in vain. */
import type { CrewHeld } from "../wire/generated/tandem/v1/crew_pb.ts";

interface Holder {
  readonly worker: string;
  readonly deliveries: number;
  readonly turns: number;
  readonly heardMs: number;
  /** When it was last seen to have done something, for whichever block. */
  readonly gotOnMs: number;
}

export interface HolderPatience {
  /** For a block that nobody says to hold. */
  readonly unheldMs: number;
  /** For a worker that says so, and ends nothing. */
  readonly stuckMs: number;
}

/** A block that is late. */
export interface LateBlock {
  readonly block: number;
  /** Null: nobody holds it. */
  readonly stuck: { readonly worker: string; readonly forMs: number } | null;
}

export class Holders {
  readonly #holders = new Map<number, Holder>();

  /** @returns whether another worker has it now, or it was handed out once more */
  hear(block: number, { worker, deliveries, turns }: CrewHeld, now: number): boolean {
    const before = this.#holders.get(block);
    if (before !== undefined && deliveries < before.deliveries) return false;
    const isNew = deliveries > (before?.deliveries ?? 0);
    const gotOn = before === undefined || isNew || turns !== before.turns;
    const gotOnMs = gotOn ? now : before.gotOnMs;
    this.#holders.set(block, { worker, deliveries, turns, heardMs: now, gotOnMs });
    return isNew;
  }

  /** Who has said to hold a block last. */
  workerOf(block: number): string | undefined {
    return this.#holders.get(block)?.worker;
  }

  /** @param askedMs nobody was asked who holds what before */
  late(
    blocks: readonly number[],
    askedMs: number,
    now: number,
    { unheldMs, stuckMs }: HolderPatience,
  ): LateBlock | null {
    for (const block of blocks) {
      const holder = this.#holders.get(block);
      if (now - Math.max(askedMs, holder?.heardMs ?? 0) > unheldMs) return { block, stuck: null };
      if (holder === undefined) continue;
      const forMs = now - Math.max(askedMs, holder.gotOnMs);
      if (forMs > stuckMs) return { block, stuck: { worker: holder.worker, forMs } };
    }
    return null;
  }
}
