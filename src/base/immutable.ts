/** A type whose fields are read only, all the way down: for types that are derived from a schema. */
export type Immutable<T> = T extends object ? { readonly [K in keyof T]: Immutable<T[K]> } : T;
