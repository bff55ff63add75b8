import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { makeFolder, startExample } from '../examples/shared/test/start-example.ts'
import { makeDatabase } from './support/postgres-database.ts'
import { isPostgres } from './support/test-store.ts'

interface Example {
  readonly program: string
  readonly args: readonly string[]
  readonly says: RegExp
}

const anywhere: { readonly [name: string]: Example } = {
  dungeon: { program: 'main', args: ['--yes'], says: /health left/ },
  greeting: { program: 'main', args: ['Ada', '--yes'], says: /Ada.*\(warm\)$/ },
  'publish-post': { program: 'main', args: ['--yes'], says: /harbour-lights: published/ },
}
/** It is several processes, which memory cannot be shared by. */
const inSql: typeof anywhere = {
  refund: { program: 'demo-terminal', args: ['--yes'], says: /17 payments, each made once/ },
}
const examples = Object.entries(isPostgres ? { ...anywhere, ...inSql } : anywhere)

test.each(examples)(
  'the example %s runs unchanged on another store',
  async (name, { program, args, says }) => {
    const store = await (isPostgres ? inDatabase() : inMemory())
    const env = { PAWL_STORE: store.location, PUBLISH_SITE: await makeFolder() }
    const child = await startExample(`../examples/${name}/src/${program}`, import.meta.url, args, env)
    const { code } = await child.ended
    expect(child.output()).toMatch(says)
    expect(code).toBe(0)
    expect(await store.hasAll()).toBe(true)
  },
)

/** No examples, one that has its own PostgreSQL, and examples with SQLite files of their own; each has tests of their own. */
const others = ['shared', 'agent', 'dist', 'cluster', 'saga', 'consents', 'deploy', 'fan-out']

test('no example is left out', () => {
  const folders = readdirSync(new URL('../examples', import.meta.url), { withFileTypes: true })
  const names = folders.filter((entry) => entry.isDirectory()).map(({ name }) => name)
  expect(names.filter((name) => !others.includes(name)).sort()).toEqual(
    Object.keys({ ...anywhere, ...inSql }).sort(),
  )
})

interface ExampleStore {
  readonly location: string
  /** Whether everything was kept there, and nowhere else. */
  hasAll(): Promise<boolean>
}

async function inMemory(): Promise<ExampleStore> {
  return { location: 'memory', hasAll: async () => !existsSync(join(import.meta.dirname, '..', 'memory')) }
}

async function inDatabase(): Promise<ExampleStore> {
  const database = await makeDatabase()
  onTestFinished(() => database.remove())
  return {
    location: database.url,
    async hasAll() {
      const { rows } = await database.owner.query('select from pawl.events limit 1')
      return rows.length === 1
    },
  }
}
