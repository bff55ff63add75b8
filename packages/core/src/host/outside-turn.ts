import type { Logger } from '../ports/logger.ts'
import { turns } from './turn.ts'

/** A logger for use within turns: what it does is the host's, with the host's clock, and nobody's turn. */
export function outsideTurn(logger: Logger): Logger {
  const at =
    (level: keyof Logger) =>
    (message: string, fields?: object): void => {
      const { current } = turns
      turns.current = null
      try {
        logger[level](message, fields)
      } finally {
        turns.current = current
      }
    }
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}
