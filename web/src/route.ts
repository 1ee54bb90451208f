/** Which view is open: the part of the address after '#', so that views can be bookmarked and the back button works. */
import { signal } from "@preact/signals";

export const views = {
  overview: "Overview",
  quality: "Quality",
  encoding: "Encoding",
  trees: "Trees",
  disclosure: "Disclosure",
  exposure: "Exposure",
  jobs: "Jobs",
} as const;
export type ViewName = keyof typeof views;

export interface Route {
  readonly view: ViewName | "compare";
  readonly parameters: URLSearchParams;
}

export const route = signal<Route>(current());
addEventListener("hashchange", () => (route.value = current()));

function current(): Route {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?", 2);
  const view = path === "compare" || Object.hasOwn(views, path) ? (path as Route["view"]) : "overview";
  return { view, parameters: new URLSearchParams(query) };
}

/** An address of a view; the job and the viewer that are looked at stay. */
export function href(view: Route["view"], changes: Readonly<Record<string, string | null>> = {}): string {
  const parameters = new URLSearchParams();
  for (const name of ["viewer", "job"]) {
    const value = route.value.parameters.get(name);
    if (value !== null) parameters.set(name, value);
  }
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) parameters.delete(name);
    else parameters.set(name, value);
  }
  const query = parameters.toString();
  return `#/${view}${query === "" ? "" : `?${query}`}`;
}
