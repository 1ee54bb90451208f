/** Asks for confirmation: only "yes" confirms. */
import { createInterface } from "node:readline/promises";

export interface Terminal {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
}

/** @returns whether the answer was yes; the end of the input counts as no */
export async function confirm(question: string, { input, output }: Terminal): Promise<boolean> {
  const lines = createInterface({ input, output });
  try {
    const ended = new Promise<string>((resolve) => lines.once("close", () => resolve("")));
    return (await Promise.race([lines.question(`${question} `), ended])).trim().toLowerCase() === "yes";
  } finally {
    lines.close();
  }
}
