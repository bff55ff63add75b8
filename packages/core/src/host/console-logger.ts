import { inspect } from 'node:util'
import { escapeControls } from '../base/text.ts'
import type { Logger } from '../ports/logger.ts'

/** Where an engine that was given no logger writes: what people should know to stdout, what is wrong to stderr. */
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
