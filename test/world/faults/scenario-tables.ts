/** The small tables that a scenario's parties have, drawn from the scenario's name. */
import { join } from "node:path";
import { SeededRandom } from "../../../src/base/random.ts";
import { writeCsv } from "../../../src/data/write-csv.ts";
import { activeName } from "./fault-simulation.ts";

export interface TableTerms {
  readonly name: string;
  readonly rowCount: number;
  /** Rows are in the same order everywhere, or aligned first. */
  readonly align?: boolean;
  readonly classes?: number;
  /** The last rows of every party are in separate files. */
  readonly validationFile?: true;
  /** Passive parties' last columns are text. */
  readonly categories?: true;
  /** How many of the rows have a label that means nothing: validation soon stops improving. */
  readonly noise?: number;
}

/** As a config names them. */
interface TableFiles {
  readonly path: string;
  readonly validation_path?: string;
}

export class ScenarioTables {
  readonly #root: string;
  readonly #terms: TableTerms;
  readonly #random: SeededRandom;
  readonly #columns: readonly (readonly number[])[];
  readonly #labels: readonly string[];

  constructor(root: string, terms: TableTerms) {
    this.#root = root;
    this.#terms = terms;
    const { rowCount, classes = 2, noise = 0 } = terms;
    const random = new SeededRandom(`faults ${terms.name}`);
    const columns = Array.from({ length: 5 }, () => Array.from({ length: rowCount }, () => random.normal()));
    this.#labels = columns[0].map((x, i) => {
      if (random.uniform() < noise) return String(Math.floor(random.uniform() * classes));
      const score = x - columns[2][i] + (columns[3][i] > 0 ? columns[4][i] : 0) + 0.5 * random.normal();
      return String(score > 0 ? 1 : classes > 2 && score < -1 ? 2 : 0);
    });
    this.#random = random;
    this.#columns = columns;
  }

  writeActive(): Promise<TableFiles> {
    return this.#write(activeName, ["a", "label"], [this.#cells(0), this.#labels]);
  }

  /** @param index of the party among the passive ones */
  writePassive(name: string, index: number): Promise<TableFiles> {
    const columns = [this.#cells(1 + 2 * index), this.#cells(2 + 2 * index, this.#terms.categories)];
    return this.#write(name, [`${name}1`, `${name}2`], columns);
  }

  #cells(column: number, isText = false): string[] {
    return this.#columns[column].map((value) => {
      if (this.#random.uniform() < 0.05) return "";
      return isText ? `kind ${Math.round(2 * value)}` : value.toFixed(3);
    });
  }

  async #write(name: string, names: readonly string[], columns: readonly (readonly string[])[]): Promise<TableFiles> {
    const { rowCount, align = false, validationFile } = this.#terms;
    const ids = this.#labels.map((_, i) => `p${1000 + i}`);
    // Where people are aligned, every party knows others, in an order of its own.
    const order = align ? Array.from(this.#random.permutation(rowCount)).slice(0, rowCount - 6) : ids.map((_, i) => i);
    const file = async (fileName: string, rows: readonly number[]): Promise<string> => {
      const path = join(this.#root, fileName);
      const cells = [ids, ...columns].map((column) => rows.map((row) => column[row]));
      await writeCsv(path, ["id", ...names], cells);
      return path;
    };
    if (!validationFile) return { path: await file(`${name}.csv`, order) };
    const trained = Math.round(0.7 * rowCount);
    return {
      path: await file(`${name}.csv`, order.slice(0, trained)),
      validation_path: await file(`${name}-validation.csv`, order.slice(trained)),
    };
  }
}
