import { type Ctx, procedure } from '@pawl/core'
import { memory, testEngine } from '@pawl/testing'
import { describe, expect, test } from 'vitest'
import { refusalOf } from './support.ts'

describe('versions', () => {
  const body = (version: number) => async (ctx: Ctx) => {
    await ctx.sleep('1h')
    return version
  }
  const first = procedure({ name: 'p', version: 1 }, body(1))
  const second = procedure({ name: 'p', version: 2 }, body(2))

  test('a run stays on the version it began with', async () => {
    const store = memory()
    const before = await testEngine({ procedures: [first], store })
    const old = await before.run(first)
    await before.advance('1m')
    await before.stop()
    await using after = await testEngine({ procedures: [first, second], store })
    const young = await after.run(second)
    expect(await after.get(first, old.id).result()).toBe(1)
    expect(await young.result()).toBe(2)
  })

  test('a run waits while no engine has its version', async () => {
    const store = memory()
    const before = await testEngine({ procedures: [first], store })
    const old = await before.run(first)
    await before.advance('1m')
    await before.stop()
    const after = await testEngine({ procedures: [second], store })
    await after.advance('1d')
    expect((await after.get(old.id).status()).status).toBe('running')
    await after.stop()
    await using again = await testEngine({ procedures: [first], store })
    expect(await again.get(first, old.id).result()).toBe(1)
  })

  test('a procedure given twice is refused', async () => {
    expect(await refusalOf(testEngine({ procedures: [first, first] }))).toMatchObject({
      code: 'procedure-duplicate',
      details: { procedure: 'p' },
    })
  })
})
