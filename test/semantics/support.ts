import { type Logger, procedure } from '@pawl/core'
import { z } from 'zod'

/** When virtual time begins. */
export const start: number = Date.parse('2026-01-01T00:00:00Z')

export const second = 1_000
export const minute: number = 60 * second
export const hour: number = 60 * minute
export const day: number = 24 * hour

export interface Line {
  readonly level: keyof Logger
  readonly message: string
  readonly fields: object | undefined
}

/** A logger that keeps what it was told. */
export function keepLines(): { readonly logger: Logger; readonly lines: readonly Line[] } {
  const lines: Line[] = []
  const at =
    (level: keyof Logger) =>
    (message: string, fields?: object): void =>
      void lines.push({ level, message, fields })
  return { logger: { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }, lines }
}

export function fail(message = 'no luck'): never {
  throw new Error(message)
}

/** What a promise is rejected with. */
export async function refusalOf(
  promise: Promise<unknown>,
): Promise<{ readonly code: string; readonly details: unknown; readonly message: string }> {
  try {
    await promise
  } catch (error) {
    return error as { readonly code: string; readonly details: unknown; readonly message: string }
  }
  throw new Error('it was not refused')
}

/** Sleeps an hour and returns a name. */
export const greet = procedure(
  { name: 'greet', input: z.object({ name: z.string(), loud: z.boolean().default(false) }) },
  async (ctx, { name, loud }) => {
    await ctx.sleep('1h')
    return loud ? name.toUpperCase() : name
  },
)

/** People who never answer. */
export const silent = [{ ask: /./, answer: 'silence' as const }]
