import { setTimeout as wait } from 'node:timers/promises'
import { createEngine, PawlError, procedure } from '@pawl/core'
import { postgres } from '@pawl/storage-postgres'
import { z } from 'zod'
import { keepLines } from '../../../../test/semantics/support.ts'
import { changeUrl, runOn, type TestDatabase } from '../../../../test/support/postgres-database.ts'
import type { ServerPair } from './server-pair.ts'
import { until } from './units.ts'

export interface Takeover {
  /** Runs of which the new primary lacked something that was acknowledged. */
  readonly robbed: number
  /** Runs of which it had everything. */
  readonly whole: number
  /** What is not as docs/guides/postgres.md says. */
  readonly problems: readonly string[]
}

const input = z.object({ stepMs: z.number(), waits: z.boolean() })

/**
 * An engine works on many runs while the standby falls behind and then takes over. What the engine knows to be
 * lost must be quarantined and left as it is; all others must continue.
 */
export async function loseTheLastMoments(
  pair: ServerPair,
  database: TestDatabase,
  { round, behindMs }: { readonly round: number; readonly behindMs: number },
): Promise<Takeover> {
  const begun = new Map<string, number>()
  let isOver = false
  const walk = procedure(
    { name: 'walk', input, signals: { go: z.void() } },
    async (ctx, { stepMs, waits }) => {
      const step = (): Promise<boolean> =>
        ctx.step('step', async () => {
          begun.set(ctx.runId, (begun.get(ctx.runId) ?? 0) + 1)
          await wait(Math.random() * stepMs)
          return isOver
        })
      if (waits) await ctx.receive('go')
      while (!(await step()));
    },
  )
  const { logger, lines } = keepLines()
  const engine = await createEngine({
    store: postgres(database.url),
    procedures: [walk],
    concurrency: 100,
    logger,
  })
  const walking = Array.from({ length: 20 }, (_, n) => `walk ${round} ${n}`)
  const waiting = Array.from({ length: 10 }, (_, n) => `wait ${round} ${n}`)
  const ids = [...walking, ...waiting]
  // The slow ones hardly write while the standby is behind, and the fast ones do.
  const stepMs = (id: string): number => (Number(id.slice(-1)) % 2 === 0 ? 20 : 500)
  await Promise.all(
    ids.map((id) => engine.run(walk, { stepMs: stepMs(id), waits: waiting.includes(id) }, { id })),
  )
  await until(() => walking.every((id) => (begun.get(id) ?? 0) >= 2))
  for (const id of waiting) await until(async () => (await engine.get(id).status()).status === 'waiting')
  await pair.caughtUp()
  await pair.standby.stop('immediate')
  // The standby will not know of these claims: their epochs go back.
  await Promise.all(waiting.map((id) => engine.get(walk, id).signal('go')))
  await wait(behindMs)
  await pair.primary.stop('immediate')
  await pair.standby.start()
  pair.promote()
  // Every step but the last one that was begun is known to be recorded.
  const known = new Map([...begun].map(([id, count]) => [id, count - 1]))
  const found = await countSteps(changeUrl(database.ownerUrl, { port: pair.standby.port }))
  isOver = true
  await pair.switchOver()
  const results = await Promise.allSettled(ids.map((id) => engine.get(id).result()))
  const left = await countSteps(database.ownerUrl)

  let robbed = 0
  const problems: string[] = []
  for (const [index, id] of ids.entries()) {
    const result = results[index]
    const [has, knew] = [found.get(id) ?? 0, known.get(id) ?? 0]
    const isQuarantined = result?.status === 'rejected' && PawlError.is(result.reason, 'run-quarantined')
    const how = `${id}: the engine knew of ${knew} steps, the new primary has ${has}`
    if (isQuarantined) {
      robbed++
      if (has > knew) problems.push(`${how}; it is quarantined`)
      if (left.get(id) !== has) problems.push(`${how}; it is quarantined, and was written to`)
      if (!String(result.reason).includes('lost')) problems.push(`${how}; it is not reported`)
    } else if (result?.status === 'rejected') problems.push(`${how}; ${result.reason}`)
    else if (has < knew) problems.push(`${how}; it continued`)
  }
  await (await engine.run(walk, { stepMs: 1, waits: false })).result()
  await engine.stop()
  // The first have a line each, the others are counted.
  const reported = lines.flatMap(({ message, fields }) =>
    message.includes(' is quarantined ') ? ((fields as { readonly count?: number }).count ?? 1) : [],
  )
  const reportedBy = reported.reduce((sum, count) => sum + count, 0)
  if (reportedBy !== robbed)
    problems.push(`${robbed} runs are quarantined, and the log tells of ${reportedBy}`)
  return { robbed, whole: ids.length - robbed, problems }
}

async function countSteps(url: string): Promise<ReadonlyMap<string, number>> {
  const { rows } = await runOn(
    url,
    `select r.id, count(e.run)::int as count from pawl.runs r
     left join pawl.events e on e.run = r.run and e.name = 'step' group by r.id`,
  )
  return new Map(rows.map(({ id, count }: { id: string; count: number }) => [id, count]))
}
