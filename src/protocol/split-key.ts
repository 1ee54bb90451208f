/** One split's name within a model. */
export function splitKey(tree: number, node: number): string {
  return `${tree}/${node}`;
}
