/** Whether the screen is that of a telephone; changes when a window does. */
import { signal } from "@preact/signals";

const query = matchMedia("(max-width: 560px)");

export const narrow = signal(query.matches);
query.addEventListener("change", ({ matches }) => (narrow.value = matches));
