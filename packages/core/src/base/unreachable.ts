/** Makes a switch complete: a case that nothing handles is a type error at the call. */
export function unreachable(value: never): never {
  throw new TypeError(`No case handles ${JSON.stringify(value)}.`)
}
