import { procedure } from '@pawl/core'
import { testEngine } from '@pawl/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { refusalOf, start } from './support.ts'

describe('an output', () => {
  test('the result is the parsed output', async () => {
    const trimmed = procedure({ name: 'trimmed', output: z.string().trim() }, async () => '  text ')
    await using engine = await testEngine({ procedures: [trimmed] })
    expect(await (await engine.run(trimmed)).result()).toBe('text')
  })

  test('an invalid output fails the run', async () => {
    const wrong = procedure(
      { name: 'wrong', output: z.object({ n: z.number() }) },
      async () => ({ n: 'x' }) as never,
    )
    await using engine = await testEngine({ procedures: [wrong] })
    const run = await engine.run(wrong)
    expect(await refusalOf(run.result())).toMatchObject({
      code: 'run-failed',
      details: { run: run.id, cause: { code: 'output-invalid' } },
    })
    expect(await run.status()).toMatchObject({
      status: 'failed',
      failure: { code: 'output-invalid' },
      endedAt: new Date(start),
    })
  })

  test('an output that cannot be stored fails the run, and the error names the path', async () => {
    const wrong = procedure({ name: 'wrong' }, async () => ({ open: () => 1 }))
    await using engine = await testEngine({ procedures: [wrong] })
    expect(await refusalOf((await engine.run(wrong)).result())).toMatchObject({
      details: { cause: { code: 'payload-refused', message: expect.stringContaining('output.open') } },
    })
  })

  test('the output may be undefined', async () => {
    const nothing = procedure({ name: 'nothing' }, async () => {})
    await using engine = await testEngine({ procedures: [nothing] })
    expect(await (await engine.run(nothing)).result()).toBeUndefined()
  })
})
