import { readdirSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { makeFolder, startExample } from '../../examples/shared/test/start-example.ts'
import { makeDatabase } from '../support/postgres-database.ts'

interface Example {
  readonly program: string
  readonly args: readonly string[]
  readonly says: RegExp
}

const examples: { readonly [name: string]: Example } = {
  dungeon: { program: 'main', args: ['--yes'], says: /health left/ },
  greeting: { program: 'main', args: ['Ada', '--yes'], says: /Ada.*\(warm\)$/ },
  'publish-post': { program: 'main', args: ['--yes'], says: /harbour-lights: published/ },
  refund: { program: 'demo-terminal', args: ['--yes'], says: /17 payments, each made once/ },
}

test.each(Object.entries(examples))(
  'the example %s runs unchanged on PostgreSQL',
  async (name, { program, args, says }) => {
    const database = await makeDatabase()
    onTestFinished(() => database.remove())
    const env = { PAWL_STORE: database.url, PUBLISH_SITE: await makeFolder() }
    const child = await startExample(`../../examples/${name}/src/${program}`, import.meta.url, args, env)
    const { code } = await child.ended
    expect(child.output()).toMatch(says)
    expect(code).toBe(0)
    // It is in the database that everything was kept.
    const { rows } = await database.owner.query('select from pawl.events limit 1')
    expect(rows).toHaveLength(1)
  },
)

/** No examples, one that has its own PostgreSQL, and examples with SQLite files of their own; each has tests of their own. */
const others = ['shared', 'agent', 'dist', 'cluster', 'saga', 'consents', 'deploy', 'fan-out']

test('no example is left out', () => {
  const folders = readdirSync(new URL('../../examples', import.meta.url), { withFileTypes: true })
  const names = folders.filter((entry) => entry.isDirectory()).map(({ name }) => name)
  expect(names.filter((name) => !others.includes(name)).sort()).toEqual(Object.keys(examples).sort())
})
