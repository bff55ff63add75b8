const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const bracket = 0x5b
const brace = 0x7b

/**
 * Counts the values in a text of JSON up to `max`: every list, object and part of one. One pass over the bytes, before
 * anything is made of them: a million empty objects in a request keep the event loop busy for seconds.
 */
export function countValues(json: Uint8Array, max: number): number {
  let count = 1
  for (let at = 0; at < json.length && count <= max; at++) {
    const byte = json[at]
    if (byte === quote) at = endOfText(json, at + 1)
    else if (byte === comma || byte === bracket || byte === brace) count++
  }
  return count
}

/** Counts the fields of a form up to `max`. */
export function countFields(form: Uint8Array, max: number): number {
  let count = 1
  for (let at = form.indexOf(0x26); at !== -1 && count <= max; at = form.indexOf(0x26, at + 1)) count++
  return count
}

/** Returns where the quote after a text is. */
function endOfText(json: Uint8Array, from: number): number {
  let at = from
  while (at < json.length && json[at] !== quote) at += json[at] === backslash ? 2 : 1
  return at
}
