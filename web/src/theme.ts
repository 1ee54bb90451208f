/** Light, dark, or as the system has it; the choice is remembered by this browser. */
import { signal } from "@preact/signals";

export type Theme = "system" | "light" | "dark";

const key = "tandem-theme";
const order: readonly Theme[] = ["system", "light", "dark"];

export const theme = signal<Theme>(remembered());

const systemIsDark = matchMedia("(prefers-color-scheme: dark)");
systemIsDark.addEventListener("change", applyTheme);

/** The style sheet knows light and dark only. */
export function applyTheme(): void {
  const { value } = theme;
  document.documentElement.dataset["theme"] = value === "system" ? (systemIsDark.matches ? "dark" : "light") : value;
}

export function nextTheme(): void {
  theme.value = order[(order.indexOf(theme.value) + 1) % order.length];
  try {
    localStorage.setItem(key, theme.value);
  } catch {
    // Without storage the theme holds until the page is closed.
  }
  applyTheme();
}

function remembered(): Theme {
  try {
    const kept = localStorage.getItem(key);
    return order.find((candidate) => candidate === kept) ?? "system";
  } catch {
    return "system";
  }
}
