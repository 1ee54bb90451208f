/**
 * A passive party's file of received contributions of its own features: `contributions.csv` in the job's folder, one
 * line per instance and explanation, readable by its owner only, and never sent. Refreshed models have the same id, and
 * so the same file: each line names its model.
 */
import { appendFile, chmod, mkdir, open, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { TandemError } from "../base/error.ts";
import { csvChunks } from "../data/write-csv.ts";
import type { OwnContributions } from "./received-contributions.ts";

export const contributionsFileName = "contributions.csv";
/** Not `job`: many tables have a feature of that name. */
const jobColumn = "tandem_job";
/** More is refused: an active party must not fill this party's disk. */
const sizeBytesMax = 1 << 30;
const headerBytesMax = 1 << 20;

export class ContributionsFile {
  readonly #sizeBytesMax: number;
  /** Writes one request after the other, so that their lines do not mix. */
  #last: Promise<void> = Promise.resolve();

  constructor(bytesMax = sizeBytesMax) {
    this.#sizeBytesMax = bytesMax;
  }

  /**
   * @param job the model's name at the active party
   * @throws TandemError POLICY if there is no more room, FILE_UNWRITABLE, or FILE_FORMAT for another model's file
   */
  append(folder: string, job: string, ids: readonly string[], received: OwnContributions): Promise<void> {
    const next = this.#last.then(() => this.#append(join(folder, contributionsFileName), job, ids, received));
    this.#last = next.catch(() => {});
    return next;
  }

  async #append(path: string, job: string, ids: readonly string[], { names, values }: OwnContributions): Promise<void> {
    const columns = names.map((_, column) => ids.map((_id, row) => String(values[row * names.length + column])));
    const [header, ...lines] = textOf(["id", jobColumn, ...names], [[...ids], ids.map(() => job), ...columns]);
    const size = await stat(path).then(
      (found) => found.size,
      () => 0,
    );
    const text = lines.join("\n");
    if (size + text.length + header.length > this.#sizeBytesMax)
      throw new TandemError("POLICY", `${contributionsFileName} is full, and no more contributions are taken`);
    try {
      if (size === 0) {
        await mkdir(dirname(path), { recursive: true, mode: 0o700 });
        await appendFile(path, `${header}\n`, { mode: 0o600 });
        await chmod(path, 0o600);
      } else if ((await firstLine(path)) !== header)
        throw new TandemError("FILE_FORMAT", `${path} has other columns: move the file elsewhere`);
      await appendFile(path, `${text}\n`);
    } catch (cause) {
      if (cause instanceof TandemError) throw cause;
      throw new TandemError("FILE_UNWRITABLE", `${path} cannot be written`, { cause });
    }
  }
}

/** The header and the rows as text: quoted ids may contain line feeds, so lines are not rows. */
function textOf(names: readonly string[], columns: readonly (readonly string[])[]): string[] {
  const header = [
    ...csvChunks(
      names,
      names.map(() => []),
    ),
  ]
    .join("")
    .trimEnd();
  const all = [...csvChunks(names, columns)].join("");
  return [header, all.slice(header.length + 1).replace(/\n$/, "")];
}

async function firstLine(path: string): Promise<string> {
  const file = await open(path, "r");
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(headerBytesMax), 0, headerBytesMax, 0);
    return buffer.toString("utf8", 0, bytesRead).split("\n", 1)[0];
  } finally {
    await file.close();
  }
}
