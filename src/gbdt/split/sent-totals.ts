/** The rows of nodes over the gradients that passive parties sum. */
import type { QuantisedGradients } from "../../base/gradients/quantised-gradients.ts";
import type { GrowingNode } from "../tree/grow.ts";
import { nodeTotals } from "./histogram.ts";

type TotalledNode = Pick<GrowingNode, "sampled" | "totals">;

export class SentTotals {
  /** Null: what is sent is not clipped, and has the same sums. */
  readonly #sent: QuantisedGradients | null;
  readonly #known = new WeakMap<TotalledNode, Float64Array>();

  constructor({ sent = null }: { readonly sent?: QuantisedGradients | null }) {
    this.#sent = sent;
  }

  of(node: TotalledNode): Float64Array {
    if (this.#sent === null) return node.totals;
    const totals = this.#known.get(node) ?? nodeTotals(this.#sent, node.sampled);
    this.#known.set(node, totals);
    return totals;
  }
}
