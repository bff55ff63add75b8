import { createClient, createEngine } from '@pawl/core'
import { sqlite } from '@pawl/storage-sqlite'
import { expect, test } from 'vitest'

test('a value that is not a store is refused, and the error names what makes one', async () => {
  const message =
    /store of create(Engine|Client).*It must be created by sqlite\(\), postgres\(\) or memory\(\)/
  for (const store of [undefined, null, 'pawl.db', { kind: 'sqlite' }]) {
    await expect(createEngine({ store, procedures: [] } as never)).rejects.toThrow(message)
    expect(() => createClient({ store } as never)).toThrow(message)
  }
  expect(() => sqlite(undefined as never)).toThrow("the path of a file, such as 'pawl.db'")
  expect(() => sqlite(5 as never)).toThrow('of the type number')
  expect(() => sqlite('~/pawl.db')).toThrow('"~/pawl.db"')
})
