import { styleText } from 'node:util'

/** The output of a command. Results go to stdout, all else to stderr. */
export interface Out {
  /** `--json`: one document on stdout. */
  readonly json: boolean
  /** Whether stdout is a terminal: text for people; else tab-separated lines. */
  readonly isTerminal: boolean
  /** Whether questions may be asked: stdin and stderr are a terminal. */
  readonly canAsk: boolean
  print(line: string): void
  note(line: string): void
  style(style: Style, text: string): string
}

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan'

export interface Streams {
  readonly stdin: { readonly isTTY?: boolean }
  readonly stdout: { readonly isTTY?: boolean; write(text: string): unknown }
  readonly stderr: { readonly isTTY?: boolean; write(text: string): unknown }
}

export function createOut({ stdin, stdout, stderr }: Streams, json: boolean, env: NodeJS.ProcessEnv): Out {
  const isTerminal = stdout.isTTY === true
  const hasColors = isTerminal && !json && !env['NO_COLOR'] && env['TERM'] !== 'dumb'
  return {
    json,
    isTerminal,
    canAsk: !json && stdin.isTTY === true && stderr.isTTY === true,
    print: (line) => void stdout.write(`${line}\n`),
    note: (line) => void stderr.write(`${line}\n`),
    style: (style, text) => (hasColors ? styleText(style, text) : text),
  }
}

/** Characters that could move the cursor, or change what is shown. The joiners of emoji and of some scripts do neither. */
const control = /(?![\u200c\u200d])[\p{Cc}\p{Cf}]/gu

/** Returns text from outside for a terminal, with its control characters as codes. */
export function safe(text: string): string {
  return text.replace(control, (char) =>
    char === '\n' || char === '\t' ? ' ' : `\\u${(char.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  )
}

/** Returns the JSON of a value for a terminal: `JSON.stringify` escapes only some of the control characters. */
export function safeJson(value: unknown): string {
  return JSON.stringify(value).replace(control, (char) =>
    // A code of JSON is half a character beyond U+FFFF.
    char.replace(/[\s\S]/g, (half) => `\\u${half.charCodeAt(0).toString(16).padStart(4, '0')}`),
  )
}
