/** What a job with the lattice scheme will cost on this machine. */
import type { CostModel } from "../cost-model.ts";

export async function latticeCosts(): Promise<CostModel> {
  throw new Error("unwritten");
}
