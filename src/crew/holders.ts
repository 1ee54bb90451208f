/** The known holders of a party's blocks, and which of them are overdue. */
import type { CrewHeld } from "../wire/generated/tandem/v1/crew_pb.ts";

interface Holder {
  readonly worker: string;
  readonly deliveries: number;
  readonly turns: number;
  readonly heardMs: number;
  /** When it last made progress, on any block. */
  readonly gotOnMs: number;
}

export interface HolderPatience {
  /** For a block without a known holder. */
  readonly unheldMs: number;
  /** For a holder that makes no progress. */
  readonly stuckMs: number;
}

/** An overdue block. */
export interface LateBlock {
  readonly block: number;
  /** Null: no worker holds it. */
  readonly stuck: { readonly worker: string; readonly forMs: number } | null;
}

export class Holders {
  readonly #holders = new Map<number, Holder>();

  /** @returns whether the holder has changed, or the block was handed out again */
  hear(block: number, { worker, deliveries, turns }: CrewHeld, now: number): boolean {
    const before = this.#holders.get(block);
    if (before !== undefined && deliveries < before.deliveries) return false;
    const isNew = deliveries > (before?.deliveries ?? 0);
    const gotOn = before === undefined || isNew || turns !== before.turns;
    const gotOnMs = gotOn ? now : before.gotOnMs;
    this.#holders.set(block, { worker, deliveries, turns, heardMs: now, gotOnMs });
    return isNew;
  }

  /** The worker that last reported to hold a block. */
  workerOf(block: number): string | undefined {
    return this.#holders.get(block)?.worker;
  }

  /** @param askedMs when workers were first asked which blocks they hold */
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
