import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeFolder, startExample } from '../examples/shared/test/start-example.ts'

// The refund demo is several processes, which memory cannot be shared by.
const examples: { readonly [name: string]: { readonly args: readonly string[]; readonly says: RegExp } } = {
  dungeon: { args: ['--yes'], says: /health left/ },
  greeting: { args: ['Ada', '--yes'], says: /Ada.*\(warm\)$/ },
  'publish-post': { args: ['--yes'], says: /harbour-lights: published/ },
}

test.each(Object.entries(examples))(
  'the example %s runs unchanged in memory',
  async (name, { args, says }) => {
    const site = await makeFolder()
    const env = { PAWL_STORE: 'memory', PUBLISH_SITE: site }
    const child = await startExample(`../examples/${name}/src/main`, import.meta.url, args, env)
    const { code } = await child.ended
    expect(child.output()).toMatch(says)
    expect(code).toBe(0)
    expect(existsSync(join(import.meta.dirname, '..', 'memory'))).toBe(false)
  },
)
