/** Control characters, bidi controls, zero-width and other invisible characters: they hide or reorder what a person reads. */
const hidden = /(?![\t\n])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu

export interface Piece {
  readonly text: string
  /** Whether `text` names a hidden character. */
  readonly isMark: boolean
}

/** Splits a text at its hidden characters, and names each of them, such as `U+202E`. */
export function splitMarks(text: string): readonly Piece[] {
  const pieces: Piece[] = []
  let from = 0
  for (const match of text.matchAll(hidden)) {
    if (isJoining(text, match.index, match[0])) continue
    if (match.index > from) pieces.push({ text: text.slice(from, match.index), isMark: false })
    pieces.push({ text: nameOf(match[0]), isMark: true })
    from = match.index + match[0].length
  }
  if (from < text.length) pieces.push({ text: text.slice(from), isMark: false })
  return pieces
}

/** A text with its hidden characters named, for where no element can be. */
export function plainMarks(text: string): string {
  return splitMarks(text)
    .map((piece) => piece.text)
    .join('')
}

// These join letters of many scripts, and parts of an emoji.
const joiners = new Set(['\u200c', '\u200d', '\ufe0e', '\ufe0f'])

/** Whether a joiner comes after a letter of such a script or after an emoji, where it belongs. */
function isJoining(text: string, at: number, character: string): boolean {
  if (!joiners.has(character)) return false
  return /[^\p{ASCII}\p{Script=Latin}\p{Cf}]$/u.test(text.slice(Math.max(0, at - 2), at))
}

function nameOf(character: string): string {
  const code = character.codePointAt(0) ?? 0
  return `U+${code.toString(16).toUpperCase().padStart(4, '0')}`
}
