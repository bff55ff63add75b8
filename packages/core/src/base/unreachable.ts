/** Makes a switch exhaustive: an unhandled case is a type error at the call. */
export function unreachable(value: never): never {
  throw new TypeError(`No case handles ${JSON.stringify(value)}.`)
}
