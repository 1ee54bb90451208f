/** Formats quantities, the same in the terminal, on the page and in the report. */
export function formatSeconds(seconds: number): string {
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 100) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  return minutes < 100 ? `${minutes} min ${whole % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export function formatMilliseconds(ms: number): string {
  return ms < 999.5 ? `${Math.round(ms)} ms` : formatSeconds(ms / 1000);
}

export function formatBytes(bytes: number): string {
  if (bytes < 1e3) return `${bytes} B`;
  const units = ["kB", "MB", "GB", "TB"];
  let value = bytes / 1e3;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) [value, unit] = [value / 1e3, unit + 1];
  return `${value.toPrecision(3)} ${units[unit]}`;
}

export function formatCount(count: number): string {
  return count.toLocaleString("en");
}

/** "-" for a metric that is not a number, such as the AUC of one class; null in files. */
export function formatMetric(value: number | null | undefined, digits = 4): string {
  return typeof value === "number" && !Number.isNaN(value) ? value.toFixed(digits) : "-";
}

/** All metrics of some rows in one line: "auc 0.8012 logloss 0.4410". */
export function formatMetrics(metrics: Readonly<Record<string, number | null>>): string {
  return Object.entries(metrics)
    .map(([name, value]) => `${name} ${formatMetric(value)}`)
    .join(" ");
}

/** A few significant digits, for any magnitude. */
export function formatPerPerson(amount: number): string {
  const value = finite(amount);
  if (value === 0) return "0";
  if (value > 0 && value < 0.0005) return "below 0.001";
  return value < 9.9995 ? value.toFixed(3) : formatCount(Number(value.toFixed(1)));
}

export function formatBits(bits: number): string {
  const value = finite(bits);
  return value < 9.995 ? value.toFixed(2) : value.toFixed(1);
}

/** An upper bound to two digits: it is not rounded down. */
export function roundedUp(bound: number): number {
  const value = finite(bound);
  if (value <= 0) return 0;
  const unit = 10 ** (Math.floor(Math.log10(value)) - 1);
  return Number((Math.ceil(value / unit - 1e-9) * unit).toPrecision(2));
}

/** A percentage; values that are not exactly 0 or 1 are not rounded to them. */
export function formatPercent(share: number): string {
  const value = finite(share) * 100;
  if (value > 0 && value < 0.1) return "below 0.1%";
  if (value > 99.9 && value < 100) return "over 99.9%";
  return `${Number(value.toFixed(value < 10 || value > 99 ? 1 : 0))}%`;
}

/** NaN for null: a record has null for a number that is not finite. */
export function finite(value: number): number {
  return Number.isFinite(value) ? value : 0;
}

/** The shortest decimal with the same float32 value, the precision in which values are compared with thresholds. */
export function formatFloat32(value: number): string {
  const exact = Math.fround(value);
  for (let digits = 1; digits < 9; digits++) {
    const short = Number(exact.toPrecision(digits));
    if (Math.fround(short) === exact) return String(short);
  }
  return String(Number(exact.toPrecision(9)));
}
