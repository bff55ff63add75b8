import { catchRejection } from '../base/thenable.ts'
import type { Logger } from '../ports/logger.ts'
import { turns } from './turn.ts'

/**
 * Wraps a logger for the engine. It runs outside turns, with the real clock, and an error that it throws, or with
 * which a promise rejects that it returns, is ignored.
 */
export function outsideTurn(logger: Logger): Logger {
  const at =
    (level: keyof Logger) =>
    (message: string, fields?: object): void => {
      const { current } = turns
      turns.current = null
      try {
        catchRejection(logger[level](message, fields), ignore)
      } catch {
        // A failing logger cannot report its own error.
      } finally {
        turns.current = current
      }
    }
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}

function ignore(): void {}
