import { styleText } from 'node:util'

/** Where a command writes, and how. Results go to stdout, all else to stderr. */
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

/**
 * Text from outside on a terminal: control characters could move the cursor or change what was printed before. The joiners of emoji and
 * of some scripts do neither.
 */
export function safe(text: string): string {
  return text.replace(/(?![\u200c\u200d])[\p{Cc}\p{Cf}]/gu, (char) =>
    char === '\n' || char === '\t' ? ' ' : `\\u${(char.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  )
}
