/** docs/parameters.md, made from the parameter tables: scripts/parameter-page.mjs writes it, a test compares it. */
import { aliasesOf, codecParameters, describeBounds, type ParameterSpec } from "../../base/parameters/parameters.ts";
import { privacyParameters } from "../../privacy/defences/defences.ts";
import { trainingParameters } from "../../gbdt/parameters/training-parameters.ts";
import { defaultsTable } from "../../gbdt/parameters/xgboost-defaults.ts";

const sections: readonly {
  readonly title: string;
  readonly about: string;
  readonly table: Readonly<Record<string, ParameterSpec>>;
}[] = [
  {
    title: "training",
    about:
      "What is learnt. Where XGBoost has the thing, name and meaning are XGBoost's. So are the defaults, but for\n" +
      `these:\n\n${defaultsTable()}\n\n` +
      "A parameter that belongs to another objective is not used, and a line says so. `num_class` without an\n" +
      "objective of several classes is refused.",
    table: trainingParameters,
  },
  {
    title: "codec",
    about:
      "How gradients become plaintexts. Few jobs need to change this. With `scheme: lattice` and many rows and\n" +
      "trees it may be less, and `tandem train` says so.",
    table: codecParameters,
  },
  {
    title: "privacy",
    about:
      "What lowers what a job gives away, and what it costs: [privacy-choices.md](privacy-choices.md).\n" +
      "`privacy` is a preset. In a config it is `privacy: guarded`, or `privacy:` with `preset: guarded` and what\n" +
      "differs from it.",
    table: privacyParameters,
  },
];

export function parameterPage(): string {
  const lines = [
    "# Parameters",
    "",
    "The parameters of a job. Made by `npm run parameters` from the tables in `src/gbdt/parameters/`,",
    "`src/base/parameters/` and `src/privacy/defences/`; do not edit.",
    "",
    "- In a config each section has its own block: `training:`, `codec:`, `privacy:`.",
    "- On the command line `max_depth` is `--max-depth`.",
    "- A switch that is on is turned off with `--no-` in front. One that is off is turned on by its name.",
    "- No two parameters share a name. An unknown name is refused, and the nearest one is proposed.",
  ];
  for (const { title, about, table } of sections) {
    lines.push("", `## ${title}`, "", about, "", "| name | default | values | meaning |", "|---|---|---|---|");
    for (const [name, spec] of Object.entries(table)) lines.push(row(name, spec));
  }
  return `${lines.join("\n")}\n`;
}

function row(name: string, spec: ParameterSpec): string {
  const names = [name, ...aliasesOf(spec)].map((each) => `\`${each}\``).join(", ");
  return `| ${names} | ${defaultText(spec)} | ${escaped(describeBounds(spec))} | ${escaped(spec.help)} |`;
}

function defaultText(spec: ParameterSpec): string {
  if (spec.kind === "list") return "what fits";
  if (spec.kind === "choice" || spec.kind === "numbers") return String(spec.default);
  const special = Object.entries(spec.defaultOf ?? {}).map(([kind, value]) => `; ${value} for ${kind}`);
  return `${spec.default}${special.join("")}`;
}

function escaped(text: string): string {
  return text.replaceAll("|", "\\|");
}
