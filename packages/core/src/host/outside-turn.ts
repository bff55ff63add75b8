import type { Logger } from '../ports/logger.ts'
import { turns } from './turn.ts'

/**
 * A logger the engine can rely on. What it does is the host's, with the host's clock, and nobody's turn; and
 * one that throws harms no run.
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
        // There is nobody left to tell.
      } finally {
        turns.current = current
      }
    }
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}
