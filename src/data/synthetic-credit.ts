/**
 * Made-up credit data for the demo: a bank that knows who defaulted, a retailer and a telecom that know the same people
 * from other sides. Nothing here is derived from real data.
 *
 * Every person has four latent traits (affluence, discipline, steadiness, restlessness), which correlate the columns
 * within and between parties. Whether a person defaults is a coin with the logistic of non-linear terms and
 * interactions, several of them between columns of different parties, so that no party sees the truth alone.
 *
 * The same seed gives the same table everywhere: values are rounded to their printed decimals before anything is
 * derived from them, so that the last bit of a machine's exp() or log() does not show.
 */
import { assert } from "../base/assert.ts";
import { SeededRandom } from "../base/random.ts";
import type { PartyTable } from "./dataset.ts";

export interface SyntheticParty {
  readonly table: PartyTable;
  /** The same as it would stand in a CSV file: `id`, the features and, at the bank, the label `default`. */
  readonly csv: { readonly names: string[]; readonly columns: string[][] };
}

export interface SyntheticCredit {
  readonly bank: SyntheticParty;
  readonly retailer: SyntheticParty;
  readonly telecom: SyntheticParty;
}

/** Printed decimals of each column; the order is the order of columns. */
const bankColumns = {
  income: 0,
  loan_amount: 0,
  loan_term_months: 0,
  credit_lines: 0,
  months_employed: 0,
  savings_balance: 0,
  card_utilisation: 2,
  late_payments: 0,
} as const;

const retailerColumns = {
  customer_months: 0,
  orders_per_month: 1,
  basket_value_mean: 2,
  returns_share: 2,
  discount_share: 2,
  nights_shopping_share: 2,
  instalment_purchases: 0,
  days_since_order: 0,
} as const;

const telecomColumns = {
  prepaid: 0,
  contract_months: 0,
  monthly_bill: 2,
  late_bill_days: 0,
  data_gb: 1,
  roaming_minutes: 0,
  night_calls_share: 2,
  number_changes: 0,
} as const;

type Values<C> = { [name in keyof C]: number };

interface Traits {
  readonly affluence: number;
  readonly discipline: number;
  readonly steadiness: number;
  readonly restlessness: number;
}

/**
 * @param rows how many people, up to 1,000,000
 * @param seed fixes everything
 */
export function syntheticCredit({ rows, seed }: { rows: number; seed: number }): SyntheticCredit {
  assert(Number.isInteger(rows) && rows >= 1 && rows <= 1_000_000, "rows from 1 to 1,000,000");
  const random = new SeededRandom(`synthetic-credit:${seed}`);
  const bank = new Columns(bankColumns, rows);
  const retailer = new Columns(retailerColumns, rows);
  const telecom = new Columns(telecomColumns, rows);
  const ids: string[] = [];
  const labels = new Float64Array(rows);
  for (let row = 0; row < rows; row++) {
    ids.push(`C${String(row + 1).padStart(6, "0")}`);
    const traits = drawTraits(random);
    const b = rounded(bankColumns, drawBank(traits, random));
    const r = rounded(retailerColumns, drawRetailer(traits, random));
    const t = rounded(telecomColumns, drawTelecom(traits, random));
    labels[row] = random.uniform() < defaultProbability(b, r, t) ? 1 : 0;
    // What a party has not recorded still had its effect on the person: blanks come after the label.
    bank.set(row, { ...b, ...blank("months_employed", 0.07, random), ...blank("savings_balance", 0.1, random) });
    retailer.set(row, {
      ...r,
      ...blank("returns_share", r.orders_per_month < 0.5 ? 0.6 : 0.02, random),
      ...blank("discount_share", 0.05, random),
    });
    telecom.set(row, {
      ...t,
      ...blank("monthly_bill", t.prepaid === 1 ? 1 : 0.01, random),
      ...blank("night_calls_share", 0.06, random),
    });
  }
  return { bank: bank.party(ids, labels), retailer: retailer.party(ids, null), telecom: telecom.party(ids, null) };
}

function drawTraits(random: SeededRandom): Traits {
  const affluence = random.normal();
  return {
    affluence,
    discipline: 0.25 * affluence + 0.97 * random.normal(),
    steadiness: 0.2 * affluence + 0.98 * random.normal(),
    restlessness: random.normal(),
  };
}

function drawBank({ affluence, discipline, steadiness }: Traits, random: SeededRandom): Values<typeof bankColumns> {
  const noise = () => random.normal();
  const income = tens(Math.exp(7.75 + 0.4 * affluence + 0.1 * steadiness + 0.2 * noise()));
  const loanTerm = 12 * (1 + random.below(7));
  return {
    income,
    loan_amount: 10 * tens(Math.exp(8.9 + 0.35 * affluence + 0.25 * Math.log(loanTerm / 48) + 0.55 * noise()) / 10),
    loan_term_months: loanTerm,
    credit_lines: count(Math.exp(1.3 + 0.2 * affluence - 0.1 * discipline + 0.5 * noise())),
    months_employed: Math.min(480, count(Math.exp(3.9 + 0.7 * steadiness + 0.6 * noise()))),
    savings_balance:
      random.uniform() < fraction(-1.6 - 0.8 * discipline)
        ? 0
        : tens(Math.exp(7.9 + 0.8 * affluence + 0.5 * discipline + 0.8 * noise())),
    card_utilisation: Math.min(1.2, 1.1 * fraction(-0.5 - 0.7 * discipline - 0.3 * affluence + 0.9 * noise())),
    late_payments: random.uniform() < fraction(-2.1 - 0.7 * discipline) ? count(1 + Math.exp(0.3 + 0.7 * noise())) : 0,
  };
}

function drawRetailer(
  { affluence, discipline, steadiness, restlessness }: Traits,
  random: SeededRandom,
): Values<typeof retailerColumns> {
  const noise = () => random.normal();
  return {
    customer_months: Math.min(180, count(Math.exp(3.2 + 0.4 * steadiness + 0.7 * noise()))),
    orders_per_month: Math.exp(0.3 + 0.2 * affluence + 0.25 * restlessness + 0.7 * noise()),
    basket_value_mean: Math.exp(3.7 + 0.35 * affluence + 0.45 * noise()),
    returns_share: random.uniform() < 0.35 ? 0 : fraction(-2 + 0.7 * restlessness - 0.2 * discipline + 0.8 * noise()),
    discount_share: fraction(-0.6 - 0.5 * affluence + 0.8 * noise()),
    nights_shopping_share: fraction(-1.6 + 0.8 * restlessness + 0.7 * noise()),
    instalment_purchases:
      random.uniform() < fraction(-0.6 - 0.3 * discipline - 0.3 * affluence)
        ? count(1 + Math.exp(0.7 + 0.7 * noise()))
        : 0,
    days_since_order: count(Math.exp(2.8 + 0.9 * noise())),
  };
}

function drawTelecom(
  { affluence, discipline, steadiness, restlessness }: Traits,
  random: SeededRandom,
): Values<typeof telecomColumns> {
  const noise = () => random.normal();
  const prepaid = random.uniform() < fraction(-1.1 - 0.4 * affluence - 0.4 * steadiness) ? 1 : 0;
  return {
    prepaid,
    contract_months: Math.min(240, count(Math.exp(3.1 - 0.5 * prepaid + 0.5 * steadiness + 0.7 * noise()))),
    monthly_bill: Math.exp(3.3 + 0.25 * affluence + 0.35 * noise()),
    late_bill_days:
      random.uniform() < fraction(-0.5 - 0.5 * discipline) ? Math.min(90, count(1 + Math.exp(1.5 + 0.8 * noise()))) : 0,
    data_gb: Math.exp(2.1 + 0.3 * restlessness + 0.6 * noise()),
    roaming_minutes:
      random.uniform() < fraction(-0.4 + 0.4 * affluence) ? count(Math.exp(3 + 0.4 * restlessness + noise())) : 0,
    night_calls_share: fraction(-2 + 0.8 * restlessness + 0.7 * noise()),
    number_changes:
      random.uniform() < fraction(-1.7 - 0.5 * steadiness) ? count(1 + Math.exp(-0.2 + 0.6 * noise())) : 0,
  };
}

/** The truth: a logistic of each party's own terms and of terms that no party can compute alone. */
function defaultProbability(
  b: Values<typeof bankColumns>,
  r: Values<typeof retailerColumns>,
  t: Values<typeof telecomColumns>,
): number {
  const burden = Math.min(1, b.loan_amount / b.loan_term_months / b.income / 0.25);
  const noSavings = b.savings_balance < 500 ? 1 : 0;
  const newJob = b.months_employed < 18 ? 1 : 0;
  const instalments = Math.min(1, r.instalment_purchases / 4);
  const nights = Math.min(1, r.nights_shopping_share / 0.4);
  const returns = r.returns_share > 0.2 ? 1 : 0;
  const lateBills = Math.min(1, t.late_bill_days / 8);
  const newContract = t.contract_months < 12 ? 1 : 0;
  const moves = Math.min(1, t.number_changes / 2);
  const bank =
    1.0 * burden +
    0.55 * noSavings +
    0.55 * newJob +
    0.9 * b.card_utilisation ** 2 +
    0.3 * Math.min(3, b.late_payments);
  const retailer = 1.3 * instalments + 1.1 * nights + 0.8 * returns * (r.orders_per_month > 1 ? 1 : 0.3);
  const telecom = 1.2 * lateBills + 0.7 * t.prepaid * newContract + 0.8 * moves;
  const between =
    1.3 * burden * lateBills +
    1.6 * noSavings * instalments +
    1.0 * newJob * t.prepaid +
    1.2 * nights * lateBills +
    1.0 * returns * moves;
  return Number(fraction(-4.85 + bank + retailer + telecom + between).toFixed(6));
}

/** The logistic function: a fraction or probability out of a real number. */
function fraction(logit: number): number {
  return 1 / (1 + Math.exp(-logit));
}

function count(mean: number): number {
  return Math.floor(mean);
}

function tens(amount: number): number {
  return 10 * Math.round(amount / 10);
}

function rounded<C extends Readonly<Record<string, number>>>(decimals: C, values: Values<C>): Values<C> {
  const result = { ...values };
  for (const name of Object.keys(decimals) as (keyof C)[]) result[name] = Number(values[name].toFixed(decimals[name]));
  return result;
}

/** A missing value with the given probability; one draw either way, so that columns do not shift each other's draws. */
function blank<N extends string>(name: N, probability: number, random: SeededRandom): { [name in N]?: number } {
  return random.uniform() < probability ? ({ [name]: NaN } as { [name in N]: number }) : {};
}

/** One party's columns while they are being filled, as numbers and as text. */
class Columns<C extends Readonly<Record<string, number>>> {
  readonly #names: (keyof C & string)[];
  readonly #features: Float32Array[];
  readonly #cells: string[][];

  constructor(decimals: C, rows: number) {
    this.#names = Object.keys(decimals);
    this.#features = this.#names.map(() => new Float32Array(rows));
    this.#cells = this.#names.map(() => []);
  }

  set(row: number, values: Values<C>): void {
    this.#names.forEach((name, column) => {
      const value = values[name];
      this.#features[column][row] = value;
      this.#cells[column].push(Number.isNaN(value) ? "" : String(value));
    });
  }

  party(ids: string[], labels: Float64Array | null): SyntheticParty {
    const csv = { names: ["id", ...this.#names], columns: [[...ids], ...this.#cells] };
    if (labels !== null) {
      csv.names.push("default");
      csv.columns.push(Array.from(labels, String));
    }
    return { table: { ids: [...ids], featureNames: [...this.#names], features: this.#features, labels }, csv };
  }
}
