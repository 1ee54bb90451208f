/** Sanitises text of a peer for our messages: bounded, and without control characters. */
const charactersMax = 500;

export function peerText(text: string): string {
  const printable = text.slice(0, charactersMax + 1).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, " ");
  return printable.length > charactersMax ? `${printable.slice(0, charactersMax)}...` : printable;
}
