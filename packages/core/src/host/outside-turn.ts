import type { Logger } from '../ports/logger.ts'
import { turns } from './turn.ts'

/**
 * Wraps a logger for the engine. It runs outside turns, with the real clock, and an error that it throws is ignored.
 */
export function outsideTurn(logger: Logger): Logger {
  const at =
    (level: keyof Logger) =>
    (message: string, fields?: object): void => {
      const { current } = turns
      turns.current = null
      try {
        logger[level](message, fields)
      } catch {
        // A failing logger cannot report its own error.
      } finally {
        turns.current = current
      }
    }
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}
