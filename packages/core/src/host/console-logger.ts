import { inspect } from 'node:util'
import { escapeControls } from '../base/text.ts'
import type { Logger } from '../ports/logger.ts'

/** The default logger: information goes to stdout, warnings and errors to stderr. */
export const consoleLogger: Logger = {
  debug: () => {},
  info: (message, fields) => console.log(line(message, fields)),
  warn: (message, fields) => console.warn(line(message, fields)),
  error: (message, fields) => console.error(line(message, fields)),
}

function line(message: string, fields: object | undefined): string {
  const shown =
    fields === undefined || Object.keys(fields).length === 0
      ? ''
      : ` ${inspect(fields, { breakLength: Number.POSITIVE_INFINITY })}`
  return `[pawl] ${escapeControls(`${message}${shown}`)}`
}
