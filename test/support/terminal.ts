/**
 * A terminal emulator for what the commands write: text, line ends, cursor up, clearing; colours are dropped but
 * counted.
 */
const escape = "\u001b";
const pieces = new RegExp(`${escape}\\[[\\d;]*[A-Za-z]|\\r|\\n|[^${escape}\\r\\n]+`, "g");
const command = new RegExp(`^${escape}\\[([\\d;]*)([A-Za-z])$`);

export class Terminal {
  readonly columns: number;
  #lines: string[] = [""];
  #row = 0;
  #column = 0;
  colourChanges = 0;

  constructor(columns: number) {
    this.columns = columns;
  }

  get text(): string {
    return this.#lines.join("\n").trimEnd();
  }

  write(text: string): void {
    for (const [piece] of text.matchAll(pieces)) this.#take(piece);
  }

  #take(piece: string): void {
    const [, argument, name] = command.exec(piece) ?? [];
    if (name === "m") this.colourChanges++;
    else if (name === "A") this.#row = Math.max(0, this.#row - Number(argument === "" ? 1 : argument));
    else if (name === "J")
      this.#lines = [...this.#lines.slice(0, this.#row), this.#lines[this.#row].slice(0, this.#column)];
    else if (name !== undefined) throw new Error(`this terminal does not know ${name}`);
    else if (piece === "\r") this.#column = 0;
    else if (piece === "\n") this.#newLine();
    else for (const character of piece) this.#put(character);
  }

  #put(character: string): void {
    if (this.#column === this.columns) this.#newLine(); // wraps, as a real one does
    const line = this.#lines[this.#row].padEnd(this.#column);
    this.#lines[this.#row] = line.slice(0, this.#column) + character + line.slice(this.#column + 1);
    this.#column++;
  }

  #newLine(): void {
    this.#row++;
    this.#column = 0;
    if (this.#row === this.#lines.length) this.#lines.push("");
  }
}
