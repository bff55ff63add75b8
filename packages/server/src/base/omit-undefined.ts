type Defined<T> = { [K in keyof T]: Exclude<T[K], undefined> }

/** Returns a copy without the members that are undefined. */
export function omitUndefined<T extends object>(value: T): Defined<T> {
  return Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined)) as Defined<T>
}
