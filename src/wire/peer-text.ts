/** Text that a peer wrote and that will stand in our messages: bounded, and nothing that a terminal would obey. */
const charactersMax = 500;

export function peerText(text: string): string {
  const printable = text.slice(0, charactersMax + 1).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, " ");
  return printable.length > charactersMax ? `${printable.slice(0, charactersMax)}...` : printable;
}
