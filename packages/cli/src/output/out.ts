import { styleText } from 'node:util'
import { breakLine } from './width.ts'

/** The output of a command. Results go to stdout, all else to stderr. */
export interface Out {
  /** `--json`: one document on stdout. */
  readonly json: boolean
  /** Whether stdout is a terminal: text for people; else tab-separated lines. */
  readonly isTerminal: boolean
  /** Whether questions may be asked: stdin and stderr are a terminal. */
  readonly canAsk: boolean
  /** Maximum width of a line: a longer one would be broken by the terminal. Infinite without a terminal. */
  readonly columns: number
  print(line: string): void
  note(line: string): void
  style(style: Style, text: string): string
}

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan'

export interface Streams {
  readonly stdin: { readonly isTTY?: boolean }
  readonly stdout: OutputStream
  readonly stderr: OutputStream
}

interface OutputStream {
  readonly isTTY?: boolean
  /** Width of the terminal. */
  readonly columns?: number
  write(text: string): unknown
}

/**
 * Begins every line that a text from outside fills: a text of a run, or the rest of a text that is longer than its line. No line of
 * a command itself begins with it, so that no text can read as one.
 */
export const mark = '  | '

export function createOut({ stdin, stdout, stderr }: Streams, json: boolean, env: NodeJS.ProcessEnv): Out {
  const isTerminal = stdout.isTTY === true
  const hasColors = isTerminal && !json && !env['NO_COLOR'] && env['TERM'] !== 'dumb'
  return {
    json,
    isTerminal,
    canAsk: !json && stdin.isTTY === true && stderr.isTTY === true,
    // Some terminals begin a new line after the last column.
    columns: (stdout.columns || stderr.columns || Number.POSITIVE_INFINITY) - 1,
    print: (line) => void stdout.write(`${line}\n`),
    note: (line) => void stderr.write(`${line}\n`),
    style: (style, text) => (hasColors ? styleText(style, text) : text),
  }
}

/** Characters that could move the cursor, or change what is shown. The joiners of emoji and of some scripts do neither. */
const control = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** Returns text from outside for a terminal, with its control characters as codes. */
export function safe(text: string): string {
  return text.replace(control, (char) => (char === '\n' || char === '\t' ? ' ' : codeOf(char)))
}

/** Shows a character as its code. */
export function codeOf(char: string): string {
  return `\\u${(char.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`
}

/**
 * Returns text from outside as one line, broken for the terminal: the rest of it continues on lines with the mark. `used` is the
 * number of columns before it.
 */
export function fitLine(out: Out, text: string, used: number, next: string = mark): string {
  return breakLine(safe(text), out.columns - Math.max(used, next.length)).join(`\n${next}`)
}

/** Returns the JSON of a value for a terminal: `JSON.stringify` escapes only some of the control characters. */
export function safeJson(value: unknown): string {
  return JSON.stringify(value).replace(control, (char) =>
    // A code of JSON is half a character beyond U+FFFF.
    char.replace(/[\s\S]/g, (half) => `\\u${half.charCodeAt(0).toString(16).padStart(4, '0')}`),
  )
}
