/** The order of a node's candidates, in messages of a bounded size. */
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { TreeNodes } from "../../scheme/candidates/tree-nodes.ts";
import type { PassiveOrderSchema } from "../../wire/generated/tandem/v1/tandem_pb.ts";

/** A rank takes four bytes at most: there are fewer candidates than 2^28. */
const ranksPerMessage = 1 << 19;

/** @throws TandemError PROTOCOL_STATE for a node whose order may not be sent */
export function* candidateOrder(
  nodes: TreeNodes,
  tree: number,
  node: number,
): Generator<MessageInitShape<typeof PassiveOrderSchema> & { readonly ranks: number[] }> {
  const order = nodes.order(node);
  for (let firstEntry = 0; firstEntry < order.length; firstEntry += ranksPerMessage)
    yield { tree, node, firstEntry, ranks: Array.from(order.subarray(firstEntry, firstEntry + ranksPerMessage)) };
}
