/** The key of a split within a model. */
export function splitKey(tree: number, node: number): string {
  return `${tree}/${node}`;
}

export function treeOfKey(key: string): number {
  return Number(key.slice(0, key.indexOf("/")));
}
