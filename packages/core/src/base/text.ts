/** Replaces unpaired surrogates, which cannot be encoded, with U+FFFD. */
export function repairText(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\uFFFD')
}

/** Whether the text has no unpaired surrogates. */
export function isWellFormed(text: string): boolean {
  return !/\p{Surrogate}/u.test(text)
}

/** Truncates to `limit` UTF-16 units and appends the original length. The note counts; pairs stay whole. */
export function clipText(text: string, limit: number): string {
  if (text.length <= limit) return text
  const note = `… (${text.length} characters in all)`
  if (note.length > limit) return ''
  return repairText(text.slice(0, limit - note.length)).replace(/\uFFFD$/u, '') + note
}

/** Formats a value for a message: short, on one line, and without throwing. */
export function showValue(value: unknown, limit = 120): string {
  return clipText(describe(value).replaceAll(/\s+/g, ' '), limit)
}

function describe(value: unknown): string {
  try {
    if (typeof value === 'string') return `'${value}'`
    if (typeof value === 'bigint') return `${value}n`
    if (typeof value === 'function') return 'a function'
    if (typeof value !== 'object' || value === null) return String(value)
    if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'an invalid Date' : value.toISOString()
    if (value instanceof Error) return `${value.name}: ${value.message}`
    return JSON.stringify(value) ?? 'an object'
  } catch {
    return 'a value that cannot be shown'
  }
}

/**
 * Escapes characters that a terminal would interpret.
 * Control characters (including ANSI sequences), bidi controls and Unicode line separators become `\x1B` or `\u202E`.
 * Keeps tabs and newlines, and indents every line after the first, so that a text cannot imitate a separate log line.
 */
export function escapeControls(text: string): string {
  return text
    .replaceAll(/\r?\n/g, '\n  ')
    .replaceAll(/(?![\t\n])[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, (character) => {
      const code = character.charCodeAt(0).toString(16).toUpperCase()
      return code.length <= 2 ? `\\x${code.padStart(2, '0')}` : `\\u${code.padStart(4, '0')}`
    })
}
