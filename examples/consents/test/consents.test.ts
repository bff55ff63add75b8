import { type Person, testEngine } from '@pawl/testing'
import { describe, expect, test } from 'vitest'
import { startExample } from '../../shared/test/start-example.ts'
import { Databases } from '../src/databases.ts'
import { createMigration } from '../src/migration.ts'
import { createPriceUpdate } from '../src/price-update.ts'
import { createPublishPost } from '../src/publish-plan.ts'
import { Shop } from '../src/shop.ts'

const says = (approved: boolean): Person => ({ ask: /./, answer: { approved } as never, as: 'user:ana' })

describe('a migration, with a crash after every commit', () => {
  test.each([
    [[], true, 'migrated', 42, ['back up production', 'migrate staging to 42', 'migrate production to 42']],
    [
      ...([['production'], true, 'rolled back', 41] as const),
      ['back up production', 'migrate staging to 42', 'migrate production to 42', 'restore production'],
    ],
    [['staging'], true, 'staging failed', 41, ['back up production', 'migrate staging to 42']],
    [[], false, 'not migrated: rejected', 41, ['back up production', 'migrate staging to 42']],
  ])('broken: %j, approved: %s: %s', async (broken, approved, outcome, version, did) => {
    const db = new Databases(broken)
    const migration = createMigration(db)
    await using engine = await testEngine({ procedures: [migration], humans: [says(approved)] })
    await engine.crash('every')
    expect(await (await engine.run(migration, { version: 42 })).result()).toBe(outcome)
    expect(db.version('production')).toBe(version)
    expect(db.did).toEqual(did)
  })
})

describe('a price update, with a crash after every commit', () => {
  test('of -45,000 USD happens once, with a yes, and shows the money', async () => {
    const shop = new Shop(2_250)
    const update = createPriceUpdate(shop)
    const edits: Person = {
      ask: ({ risk, params }) =>
        risk?.impact?.amount === -45_000 && (params as { products: number }).products === 500,
      answer: { approved: true, params: { percent: -10 } },
      as: 'user:ana',
    }
    await using engine = await testEngine({ procedures: [update], humans: [edits] })
    await engine.crash('every')
    const run = await engine.run(update, { percent: -20 })
    expect(await run.result()).toEqual({ status: 'updated', by: 'user:ana' })
    expect(shop.did).toEqual(['-10 %', 'clear cache'])
  })

  test('of little money asks no person', async () => {
    const shop = new Shop(10)
    const update = createPriceUpdate(shop)
    await using engine = await testEngine({ procedures: [update] })
    expect(await (await engine.run(update, { percent: -20 })).result()).toMatchObject({ by: 'policy:gate' })
  })

  test('that a person rejects changes nothing', async () => {
    const shop = new Shop(2_250)
    const update = createPriceUpdate(shop)
    await using engine = await testEngine({ procedures: [update], humans: [says(false)] })
    expect(await (await engine.run(update, { percent: -20 })).result()).toMatchObject({ status: 'rejected' })
    expect(shop.did).toEqual([])
  })
})

describe('a post that is published by a plan, with a crash after every commit', () => {
  test.each([
    [true, 'fine', 'done', 1, 0],
    [true, 'broken', 'rolled-back', 1, 3],
  ])('approved: %s, the feed is %s: %s', async (approved, feed, status, published, takenBack) => {
    const did = new Map<string, string>()
    const publish = createPublishPost((what, key, title) => {
      did.set(key, what)
      return what === 'feed' ? feed : `${what} ${title ?? ''}`
    })
    await using engine = await testEngine({ procedures: [publish], humans: [says(approved)] })
    await engine.crash('every')
    expect(await (await engine.run(publish, { title: 'Tides' })).result()).toMatchObject({ status })
    const all = [...did.values()]
    expect(all.filter((what) => what === 'publish')).toHaveLength(published)
    expect(all.filter((what) => what.startsWith('take back'))).toHaveLength(takenBack)
  })

  test('is not published without a yes', async () => {
    const did: string[] = []
    const publish = createPublishPost((what) => String(did.push(what)))
    await using engine = await testEngine({ procedures: [publish], humans: [says(false)] })
    await expect((await engine.run(publish, { title: 'Tides' })).result()).rejects.toMatchObject({
      code: 'run-cancelled',
    })
    expect(did).not.toContain('publish')
  })
})

test('the demo rolls production back by itself', async () => {
  const child = await startExample('../src/demo', import.meta.url, ['--yes'], {})
  const { code } = await child.ended
  expect(child.output()).toContain('production has its old version again')
  expect(code).toBe(0)
})
