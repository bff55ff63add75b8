import { type Ctx, procedure } from '@pawl/core'
import { testEngine } from '@pawl/testing'

/** Ways to execute a run that must not change its result. */
export const lives = ['live', 'always', 'crash'] as const
export type Life = (typeof lives)[number]

export interface Played {
  readonly result: unknown
  readonly log: readonly { readonly type: string; readonly name: string; readonly [field: string]: unknown }[]
  readonly lines: readonly string[]
}

type Script = NonNullable<Parameters<typeof testEngine>[0]['humans']>

/** Executes one procedure on a test engine: once, replayed before every event, or crashed after every write. */
export async function play(
  body: (ctx: Ctx) => Promise<unknown>,
  life: Life = 'live',
  humans: Script = [],
): Promise<Played> {
  const lines: string[] = []
  const note = (line: string) => lines.push(line)
  const procedures = [procedure({ name: 'desk' }, body)]
  await using engine = await testEngine({
    procedures,
    humans,
    replay: life === 'always' ? 'always' : 'on-crash',
    logger: { debug() {}, info() {}, warn: note, error: note },
  })
  if (life === 'crash') await engine.crash('every')
  const run = await engine.run(procedures[0] as (typeof procedures)[number], undefined, { id: 'desk-1' })
  const result = await run.result().catch((error: unknown) => error)
  const { execution_log: log } = await engine.log(run.id)
  return { result, log: log as unknown as Played['log'], lines }
}
