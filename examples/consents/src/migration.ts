import { decider, procedure } from '@pawl/core'
import { z } from 'zod'
import type { Databases } from './databases.ts'

/** Looks at a report: 'ok' without errors. In a real program this is a model. */
export const dba = decider('dba', async ({ material }) => {
  const { errors = 0 } = material as { readonly errors?: number }
  return { choice: errors === 0 ? 'ok' : 'bad', rationale: `${errors} errors`, confidence: 1 }
})

/** Migrates production: an agent checks the backup and staging, a person agrees, and a failed check restores the backup. */
export function createMigration(db: Databases) {
  return procedure({ name: 'migrate', input: z.object({ version: z.int() }) }, async (ctx, { version }) => {
    const judge = async (question: string, material: unknown): Promise<boolean> => {
      const options = { agent: dba, material, minConfidence: 0.9, fallback: 'bad' } as const
      return (await ctx.agent.decide(question, ['ok', 'bad'], options)).choice === 'ok'
    }

    const backup = await ctx.step('back up', ({ idempotencyKey }) => db.backUp('production', idempotencyKey))
    if (!(await judge('Is the backup complete?', backup))) return 'no backup'
    const staged = await ctx.step('migrate staging', ({ idempotencyKey }) => {
      db.migrate('staging', version, idempotencyKey)
      return db.check('staging')
    })
    if (!(await judge('Is staging healthy?', staged))) return 'staging failed'

    const migrated = await ctx.gate('migrate production', {
      classes: ['destructive'],
      params: { version },
      human: {
        message: 'Migrate production to version {version}?',
        risk: { level: 'high', reasons: ['destructive'], reversible: true, impact: { downtime: '15m' } },
        details: [{ title: 'Staging', body: staged }],
        to: 'group:dba',
        timeout: '2h',
      },
      validFor: '4h',
      facts: () => db.version('production'),
      run: (params, { idempotencyKey }) => db.migrate('production', params.version, idempotencyKey),
      undo: (_, { idempotencyKey }) => db.restore('production', backup, idempotencyKey),
    })
    if (!migrated.done) return `not migrated: ${migrated.reason}`

    const report = await ctx.step('check production', () => db.check('production'))
    if (await judge('Is production healthy?', report)) return 'migrated'
    await ctx.rollback('production failed its check')
    await ctx.human.notify('The migration to version {version} was rolled back', {
      ...{ data: { version }, to: 'group:dba', severity: 'critical' },
      details: [{ title: 'Report', body: report }],
    })
    return 'rolled back'
  })
}
