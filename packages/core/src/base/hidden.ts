/** Control characters, bidi controls, zero-width and other invisible characters: they hide or reorder what a person reads. */
const hidden = /(?![\t\n])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu

/** These join letters of many scripts, and parts of an emoji. */
const joiners = new Set(['\u200c', '\u200d', '\ufe0e', '\ufe0f'])

/** Replaces hidden characters by their codes, such as `[U+202E]`: they could make a text read as another one. */
export function markHidden(text: string): string {
  return replaceHidden(text.replaceAll('\r\n', '\n'), (character) => `[${nameOf(character)}]`)
}

/** Returns a text as one line, with its hidden characters marked. */
export function toOneLine(text: string): string {
  return markHidden(text.replaceAll(/\s+/g, ' ')).trim()
}

/** Escapes the hidden characters of a JSON text. It stays the same JSON. */
export function escapeHiddenInJson(json: string): string {
  return replaceHidden(json, (character) =>
    [...Array(character.length).keys()]
      .map((index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`)
      .join(''),
  )
}

/** Whether a text shows nothing: it has only spaces, hidden characters, and the empty pattern of Braille. */
export function isBlank(text: string): boolean {
  return text.replaceAll(hidden, '').replaceAll('\u2800', '').trim() === ''
}

function replaceHidden(text: string, replace: (character: string) => string): string {
  return text.replaceAll(hidden, (character, at: number) =>
    isJoining(text, at, character) ? character : replace(character),
  )
}

/** Whether a joiner comes after a letter of such a script or after an emoji, where it belongs. */
function isJoining(text: string, at: number, character: string): boolean {
  if (!joiners.has(character)) return false
  return /[^\p{ASCII}\p{Script=Latin}\p{Cf}]$/u.test(text.slice(Math.max(0, at - 2), at))
}

function nameOf(character: string): string {
  const code = character.codePointAt(0) ?? 0
  return `U+${code.toString(16).toUpperCase().padStart(4, '0')}`
}
