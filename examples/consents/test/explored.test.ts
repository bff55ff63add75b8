import { procedure } from '@pawl/core'
import { explore, oneOf } from '@pawl/testing'
import { describe, expect, test } from 'vitest'
import { Databases } from '../src/databases.ts'
import { createMigration } from '../src/migration.ts'
import { createPriceUpdate } from '../src/price-update.ts'
import { createPublishPost } from '../src/publish-plan.ts'
import { Shop } from '../src/shop.ts'

describe('on every path of', () => {
  test('the migration, production is migrated only with the yes of a person', async () => {
    const report = await explore(
      createMigration(new Databases()),
      { version: 42 },
      {
        steps: {
          'back up': { file: 'production.dump', version: 41 },
          'migrate staging': { version: 42, errors: 0 },
          'migrate production · facts': oneOf(41, 42),
        },
        failures: ['migrate production', 'undo migrate production'],
        cancel: true,
        never: [{ step: 'migrate production', unless: { ask: 'Migrate production' } }],
      },
    )
    expect(report).toMatchObject({ violations: [], truncated: false, cut: 0 })
    expect(Object.keys(report.ends)).toEqual(
      expect.arrayContaining([
        ...['completed: migrated', 'completed: rolled back', 'completed: no backup', 'cancelled'],
        ...['completed: not migrated: rejected', 'completed: not migrated: changing'],
      ]),
    )
  })

  test('the price update of -45,000 USD, prices change only with the yes of a person', async () => {
    const steps = { calculate: { products: 500, impact: -45_000, perPercent: 2_250 } }
    const never = [{ step: 'update prices', unless: 'approved' as const }]
    const facts = { 'update prices · facts': oneOf(7, 8) }
    const update = createPriceUpdate(new Shop(2_250))
    const report = await explore(
      update,
      { percent: -20 },
      { steps: { ...steps, ...facts }, never, cancel: true },
    )
    expect(report).toMatchObject({ violations: [], truncated: false, cut: 0 })
    // Little money needs no yes.
    const cheap = { calculate: { products: 500, impact: -200, perPercent: 10 } }
    const { violations } = await explore(update, { percent: -20 }, { steps: cheap, never })
    expect(violations).toMatchObject([{ why: 'an agent said yes, and no person' }])
  })

  test('the post, it is published only with the yes of a person, and taken back if it is not live', async () => {
    const publish = createPublishPost((what) => what)
    const report = await explore(
      publish,
      { title: 'Tides' },
      {
        steps: Object.fromEntries(['draft', 'images', 'spelling', 'html', 'preview'].map((id) => [id, id])),
        failures: ['preview', 'tweet'],
        never: [{ step: 'publish', unless: { ask: 'Publish' } }],
      },
    )
    expect(report).toMatchObject({ violations: [], truncated: false })
    const ends = Object.keys(report.ends).join('\n')
    for (const status of ['done', 'rolled-back', 'stopped']) expect(ends).toContain(`"status":"${status}"`)
  })
})

test('explore names the path on which a careless migration acts unasked', async () => {
  const careless = procedure({ name: 'careless' }, async (ctx) => {
    const approval = await ctx.human.approve('Migrate production?', { timeout: '2h', onTimeout: 'reject' })
    if (approval.approved || approval.timedOut) await ctx.step('migrate production', () => {})
  })
  const never = [{ step: 'migrate production', unless: 'approved' as const }]
  expect((await explore(careless, undefined, { never })).violations).toMatchObject([
    { why: 'no person said yes', outcomes: ['Migrate production?: no answer'] },
  ])
})
