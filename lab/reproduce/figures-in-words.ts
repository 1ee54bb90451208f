/** How numbers are written in tables and sentences. */

/** AUC and KS, as the paper prints them. */
export function decimals(value: number, digits = 4): string {
  return value.toFixed(digits);
}

/** With its sign, also where it rounds to nothing. */
export function signed(value: number, digits = 4): string {
  const text = Math.abs(value).toFixed(digits);
  if (Number(text) === 0) return text;
  return `${value < 0 ? "-" : "+"}${text}`;
}

export function percent(share: number, digits = 1): string {
  return `${(100 * share).toFixed(digits)}%`;
}

/** Three digits, whatever the size. */
export function seconds(value: number): string {
  if (value >= 100) return value.toFixed(0);
  return value >= 10 ? value.toFixed(1) : value.toFixed(value >= 1 ? 2 : 3);
}

export function count(value: number): string {
  return value.toLocaleString("en");
}

/** Two digits and a power of ten, for errors and bounds. */
export function scientific(value: number): string {
  return value === 0 ? "0" : value.toExponential(1);
}

/** "a, b and c" */
export function listed(words: readonly string[]): string {
  return words.length < 2 ? (words[0] ?? "") : `${words.slice(0, -1).join(", ")} and ${words[words.length - 1]}`;
}

/** "one job", "3 jobs" */
export function counted(number: number, noun: string): string {
  return number === 1 ? `one ${noun}` : `${count(number)} ${noun}s`;
}
