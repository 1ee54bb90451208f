/** Every wrong input ends with one clear line that names file, line or option, exit code 2, and no stack. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { scratchDirectory, writeLoanTable } from "./support/command.ts";
import { tandemHere } from "./world/command-here.ts";
import { tandem } from "./world/tandem-process.ts";

const directory = scratchDirectory();
const good = join(directory, "loans.csv");
writeLoanTable(good, 60);

function file(name: string, ...lines: string[]): string {
  const path = join(directory, name);
  writeFileSync(path, `${lines.join("\n")}\n`);
  return path;
}

const basic = (data: string, ...more: string[]): string[] => [
  "--data",
  data,
  "--id",
  "id",
  "--label",
  "y",
  "--active",
  "a",
  "--passive",
  "b",
  ...more,
];
const loans = (...more: string[]): string[] => [
  "--data",
  good,
  "--id",
  "id",
  "--label",
  "defaulted",
  "--active",
  "income",
  "--passive",
  "debt",
  ...more,
];

const cases: { readonly what: string; readonly args: string[]; readonly says: RegExp }[] = [
  { what: "missing file", args: basic(join(directory, "none.csv")), says: /none\.csv.*\(FILE_UNREADABLE\)/ },
  {
    what: "unknown column",
    args: loans("--passive", "agee"),
    says: /no column 'agee'; did you mean 'age'\?.*\(COLUMN_UNKNOWN\)/,
  },
  {
    what: "unknown label",
    args: ["--data", good, "--label", "y", "--passive", "age"],
    says: /no column 'y'.*\(COLUMN_UNKNOWN\)/,
  },
  {
    what: "duplicate id",
    args: basic(file("ids.csv", "id,a,b,y", "1,1,1,0", "2,1,1,1", "1,2,2,1")),
    says: /ids\.csv: lines 2 and 4 have the same id.*\(ID_DUPLICATE\)/,
  },
  {
    what: "unparsable number",
    args: basic(file("cell.csv", "id,a,b,y", "1,1,1,0", "2,1,secret,1")),
    says: /cell\.csv, line 3, column 'b': the cell is text\. .*\(--missing\) \(CELL_UNPARSABLE\)/,
  },
  {
    what: "ragged row",
    args: basic(file("ragged.csv", "id,a,b,y", "1,1,1,0", "2,1,1")),
    says: /ragged\.csv.*line 3.*\(FILE_FORMAT\)/,
  },
  {
    what: "constant label",
    args: basic(file("flat.csv", "id,a,b,y", "1,1,1,0", "2,1,2,0", "3,3,2,0")),
    says: /flat\.csv.*\(LABEL_INVALID\)/,
  },
  {
    what: "a label that is not a class",
    args: basic(file("three.csv", "id,a,b,y", "1,1,1,0", "2,1,2,1", "3,3,2,2")),
    says: /three\.csv, line 4.*\(LABEL_INVALID\)/,
  },
  {
    what: "a positive value that never occurs",
    args: loans("--positive", "ja"),
    says: /no label is 'ja' \(upper and lower case count\); two classes are needed \(LABEL_INVALID\)/,
  },
  {
    what: "a feature given to two parties",
    args: loans("--passive", "age,income"),
    says: /column 'income' is given to both --active and --passive age,income\. Leave it to one \(COLUMN_SHARED\)/,
  },
  {
    what: "the label as a feature",
    args: loans("--passive", "defaulted"),
    says: /'defaulted' is given to both --label and --passive defaulted\. .*\(COLUMN_SHARED\)/,
  },
  {
    what: "key too short",
    args: loans("--key-bits", "1024"),
    says: /1024 bits.*or, for experiments, --insecure-key-bits 1024 \(KEY_TOO_SHORT\)/,
  },
  {
    what: "key of an invalid size",
    args: loans("--insecure-key-bits", "100"),
    says: /from 128 to 4096; got 100.*\(USAGE\)/,
  },
  {
    what: "both key options",
    args: loans("--key-bits", "2048", "--insecure-key-bits", "512"),
    says: /exclude each other.*\(USAGE\)/,
  },
  {
    what: "a parameter out of bounds",
    args: loans("--eta", "0"),
    says: /eta must be a number above 0 up to 1; got '0'.*\(USAGE\)/,
  },
  {
    what: "a parameter that is not a number",
    args: loans("--max-depth", "deep"),
    says: /max_depth must be an integer from 0 up to 16; got 'deep'.*\(USAGE\)/,
  },
  {
    what: "an unknown objective",
    args: loans("--objective", "rank:clicks"),
    says: /objective must be one of binary:logistic, .*reg:squarederror.*\(USAGE\)/,
  },
  {
    what: "a base score that is not a probability",
    args: loans("--base-score", "1.5"),
    says: /base_score.*between 0 and 1.*\(USAGE\)/,
  },
  {
    what: "no passive party",
    args: ["--data", good, "--label", "defaulted", "--active", "income"],
    says: /--passive is missing.*\(USAGE\)/,
  },
  {
    what: "a test fraction of everything",
    args: loans("--test-fraction", "1"),
    says: /--test-fraction must lie between 0 and 1/,
  },
  {
    what: "a misspelt option",
    args: loans("--max-dept", "3"),
    says: /^error: unknown option '--max-dept'; did you mean --max-depth\? Try 'tandem simulate --help' \(USAGE\)\n$/,
  },
  {
    what: "an option without its value",
    args: loans("--records"),
    says: /^error: option '--records <folder>' argument missing\. Try 'tandem simulate --help' \(USAGE\)\n$/,
  },
  {
    what: "columns without commas",
    args: loans("--active", "age", "visits"),
    says: new RegExp(
      "^error: 'visits' belongs to no option; separate columns by commas: --active age,visits\\. " +
        "Try 'tandem simulate --help' \\(USAGE\\)\\n$",
    ),
  },
  {
    what: "an extra argument",
    args: loans("--check", "now"),
    says: /^error: 'now' belongs to no option\. Try 'tandem simulate --help' \(USAGE\)\n$/,
  },
  {
    what: "predictions that cannot be written",
    args: loans("--predictions", join(directory, "none", "p.csv"), "--insecure-key-bits", "256"),
    says: /none.*p\.csv cannot be written.*\(FILE_UNWRITABLE\)/,
  },
];

test.each(cases)("$what", async ({ args, says }) => {
  const { exitCode, stdout, stderr } = await tandemHere("simulate", "--json", ...args);
  expect(stderr).toMatch(says);
  expect(stderr).not.toMatch(/^\s+at |node:internal|secret/m);
  expect(stdout).toBe("");
  expect(exitCode).toBe(2);
});

test("as a process: one line, exit code 2, no stack", async () => {
  const [{ args, says }] = cases;
  const { exitCode, stdout, stderr } = await tandem("simulate", "--json", ...args);
  expect(stderr).toMatch(says);
  expect(stderr).not.toMatch(/^\s+at |node:internal/m);
  expect([exitCode, stdout]).toEqual([2, ""]);
});

test("an unknown command is refused with the nearest one", async () => {
  const { exitCode, stderr } = await tandem("simulat");
  expect(stderr).toBe("error: unknown command 'simulat'; did you mean simulate? Try 'tandem --help' (USAGE)\n");
  expect(exitCode).toBe(2);
});
