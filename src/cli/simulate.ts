/** `tandem simulate`: any one CSV, cut by columns into companies. */
import { Command, Option } from "commander";
import { TandemError } from "../base/error.ts";
import { codecParameters, describeBounds, type ParameterSpec, speedParameters, trainingParameters } from "../base/parameters.ts";
import { Progress } from "./progress.ts";
import { costTable, summarise } from "./summary.ts";
import { textTable } from "./text-table.ts";

interface SimulateFlags {
  readonly data: string;
  readonly id?: string;
  readonly label: string;
  readonly positive?: string;
  readonly active?: string;
  readonly passive: string[];
  readonly testFraction?: string;
  readonly testData?: string;
  readonly missing: string[];
  readonly keyBits?: string;
  readonly insecureKeyBits?: string;
  readonly predictions?: string;
  readonly check?: boolean;
  readonly json?: boolean;
  readonly [parameter: string]: unknown;
}

const defaultKeyBits = 2048;
const defaultTestFraction = "0.25";

export function simulateCommand(): Command {
  const command = new Command("simulate")
    .description("cut one CSV file by columns into companies and train between them: real processes, real TLS")
    .requiredOption("--data <file>", "the table, .csv or .csv.gz")
    .requiredOption("--label <column>", "the label, by name or position ('#3')")
    .option("--id <column>", "the id, by name or position ('#0'); without it the row number")
    .option("--positive <value>", "the label's value that counts as 1")
    .option("--active <columns>", "the active party's features, separated by commas")
    .option("--passive <columns>", "a passive party's features; once per party", collect, [])
    .option("--test-fraction <share>", `rows held back for testing (default: ${defaultTestFraction})`)
    .option("--test-data <file>", "a second table to test on instead")
    .option("--missing <token>", "a cell value that means missing, besides empty, NA and NaN; may be repeated", collect, [])
    .option("--key-bits <bits>", `Paillier key, 2048 to 4096 bits (default: ${defaultKeyBits})`)
    .option("--insecure-key-bits <bits>", "a shorter key, from 128 bits, for experiments only")
    .option("--predictions <file>", "write id, label and prediction of the test rows")
    .option("--check", "compare with centralised training, node by node")
    .option("--json", "print the result as one JSON object on one line");
  for (const [name, spec] of Object.entries({ ...trainingParameters, ...codecParameters, ...speedParameters })) command.addOption(parameterOption(name, spec));
  return command.action(runSimulate);
}

async function runSimulate(flags: SimulateFlags): Promise<void> {
  const { keyBits, insecureKey } = keySize(flags);
  if (flags.testFraction !== undefined && flags.testData !== undefined) {
    throw new TandemError("USAGE", "--test-fraction and --test-data exclude each other");
  }
  const testFraction = Number(flags.testFraction ?? defaultTestFraction);
  if (!(testFraction > 0 && testFraction < 1)) throw new TandemError("USAGE", `--test-fraction must lie between 0 and 1; got '${flags.testFraction}'`);
  const progress = Progress.onStandardError(flags.json === true && process.stderr.isTTY !== true);
  const { simulate } = await import("../experiment/simulate.ts");
  const result = await simulate({
    data: flags.data,
    id: flags.id,
    label: flags.label,
    positive: flags.positive,
    active: columnList(flags.active ?? ""),
    passives: flags.passive.map(columnList),
    testFraction,
    testData: flags.testData,
    missing: flags.missing,
    training: given(flags, trainingParameters),
    codec: given(flags, codecParameters),
    speed: given(flags, speedParameters),
    keyBits,
    insecureKey,
    predictions: flags.predictions,
    check: flags.check === true,
    onEvent: (event) => progress.handle(event, "active"),
  });
  const identical = result.difference === null ? null : result.difference === "";
  const summary = summarise(result, keyBits, identical);
  process.stdout.write(flags.json === true ? `${JSON.stringify(summary)}\n` : `${readable(summary, result.difference)}\n`);
  if (identical === false) throw new TandemError("INTERNAL", `federated and centralised model differ: ${result.difference}`);
}

function readable(summary: ReturnType<typeof summarise>, difference: string | null): string {
  const { train, test } = summary.metrics;
  const names = Object.keys(train);
  const cells = (metrics: Readonly<Record<string, number>>): string[] => names.map((name) => metrics[name].toFixed(4));
  const rows = [["", ...names], ["train", ...cells(train)], ...(test === null ? [] : [["test", ...cells(test)]])];
  const checked = difference === null ? [] : ["", `  federated equals centralised?  ${difference === "" ? "yes, bit for bit" : `NO: ${difference}`}`];
  return ["", textTable(rows), ...checked, "", costTable(summary), ""].join("\n");
}

function keySize(flags: SimulateFlags): { keyBits: number; insecureKey: boolean } {
  if (flags.keyBits !== undefined && flags.insecureKeyBits !== undefined) {
    throw new TandemError("USAGE", "--key-bits and --insecure-key-bits exclude each other");
  }
  return { keyBits: Number(flags.insecureKeyBits ?? flags.keyBits ?? defaultKeyBits), insecureKey: flags.insecureKeyBits !== undefined };
}

/** `num_round` is --num-round on the command line and numRound in commander's result. */
function parameterOption(name: string, spec: ParameterSpec): Option {
  if (spec.kind === "switch") return new Option(`--no-${name.replaceAll("_", "-")}`, `do not ${spec.help}`);
  return new Option(`--${name.replaceAll("_", "-")} <value>`, `${spec.help}: ${describeBounds(spec)} (default: ${spec.default})`);
}

function given(flags: SimulateFlags, table: Readonly<Record<string, ParameterSpec>>): Record<string, string | boolean> {
  const values: Record<string, string | boolean> = {};
  for (const name of Object.keys(table)) {
    const value = flags[name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())];
    if (typeof value === "string" || typeof value === "boolean") values[name] = value;
  }
  return values;
}

function columnList(text: string): string[] {
  return text === "" ? [] : text.split(",");
}

function collect(value: string, previous: string[]): string[] {
  return [...previous, value];
}
