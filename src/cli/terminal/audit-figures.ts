/** How figures of an audit are written. */
export const metricTitle = (name: string): string => (name === "auc" ? "AUC" : name);

/** Metrics other than AUC may have the label's unit: significant digits instead of decimals. */
export function metricValue(name: string, value: number): string {
  return name === "auc" ? value.toFixed(4) : String(Number(value.toPrecision(5)));
}

export function percent(share: number): string {
  return `${Math.round(100 * share)} %`;
}
