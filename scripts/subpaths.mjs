/** The library's entries: a file of src/api/ each, `index` for the package itself and a subpath for every other. */
export const subpaths = ["index", "gbdt", "simulate", "scheme"];
