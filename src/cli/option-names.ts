/** `num_round` of a config is --num-round on the command line, and numRound in the parser's result. */

export function toFlag(name: string): string {
  return name.replaceAll("_", "-");
}

export function toOptionKey(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
