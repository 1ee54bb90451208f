/** Quantities in words, the same in the terminal, on the page and in the report. */
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
