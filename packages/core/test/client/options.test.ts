import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { readOptions } from '../../src/checks/spec.ts'
import { pageLimit, readEngineOptions, readRunOptions } from '../../src/client/options.ts'
import { decider, PawlError, procedure, ref } from '../../src/index.ts'

const hello = procedure({ name: 'hello' }, async () => 1)
const newer = procedure({ name: 'hello', version: 2 }, async () => 2)
const store = { kind: 'memory' }
const read = (options: object) => readEngineOptions({ store, procedures: [hello], ...options })

describe('the options of an engine', () => {
  test('uses the documented defaults for an engine', () => {
    expect(read({})).toMatchObject({
      procedures: [{ name: 'hello', version: 1 }],
      decider: undefined,
      escalateTo: undefined,
      determinism: 'virtual',
      maxCrashes: 5,
      maxDescendants: 100_000,
      concurrency: 100,
      leaseMs: 10_000,
      logger: undefined,
    })
  })

  test('reads the options of an engine', () => {
    const logger = { debug() {}, info() {}, warn() {}, error() {} }
    const critic = decider('critic', async () => ({ choice: 'go', rationale: '' }))
    expect(
      read({
        decider: critic,
        escalateTo: 'role:boss',
        determinism: 'off',
        maxCrashes: 2,
        concurrency: 1,
        lease: '1s',
        logger,
      }),
    ).toMatchObject({
      ...{
        decider: { name: 'critic' },
        escalateTo: 'role:boss',
        determinism: 'off',
        maxCrashes: 2,
        concurrency: 1,
        leaseMs: 1_000,
        logger,
      },
    })
  })

  test('accepts several versions of one procedure', () => {
    expect(read({ procedures: [hello, newer] }).procedures.map(({ version }) => version)).toEqual([1, 2])
  })

  test('rejects a procedure with the same name and version twice', () => {
    const again = procedure({ name: 'hello' }, async () => 3)
    expect(() => read({ procedures: [hello, newer, again] })).toThrow(
      new PawlError('procedure-duplicate', { procedure: 'hello' }),
    )
  })

  test('rejects a signal whose schema transforms', () => {
    const signals = { paid: z.string().transform(Number) }
    expect(() => read({ procedures: [procedure({ name: 'p', signals }, async () => 1)] })).toThrow(
      "signals.paid of procedure 'p'",
    )
  })

  test.each<[object, string]>([
    [{ procedures: undefined }, 'It must be an array.'],
    [{ procedures: [ref<typeof hello>('hello')] }, 'a ref has no code to run'],
    [{ procedures: [async () => 1] }, 'Each must be created by procedure()'],
    [{ procedure: [hello] }, 'Did you mean procedures?'],
    [{ decider: { name: 'critic' } }, 'It must be created by decider() or agent().'],
    [{ escalateTo: 'boss' }, 'escalateTo of createEngine'],
    [{ determinism: 'strict' }, "It must be one of 'virtual', 'error', 'off'."],
    [{ maxCrashes: 1 }, 'maxCrashes of createEngine'],
    [{ maxCrashes: 2.5 }, 'maxCrashes of createEngine'],
    [{ maxDescendants: 0 }, 'maxDescendants of createEngine'],
    [{ concurrency: 0 }, 'concurrency of createEngine'],
    [{ lease: '999ms' }, "It must be at least '1s'."],
    [{ lease: 10 }, '(lease of createEngine)'],
    [{ logger: { info() {} } }, 'A logger must have the functions debug, info, warn and error.'],
  ])('rejects the engine options %j', (options, message) => {
    expect(() => read(options)).toThrow(message)
  })
})

describe('the options of a run', () => {
  test('requires no options for a run', () => {
    expect(readRunOptions(undefined)).toEqual({ id: undefined, by: undefined, tags: [], timeout: null })
    expect(readRunOptions({ id: 'a', by: 'user:ana', tags: ['x', 'x', 'y'] })).toEqual({
      ...{ id: 'a', by: 'user:ana', tags: ['x', 'y'], timeout: null },
    })
  })

  test.each<[unknown, string]>([
    [{ id: '' }, 'id of run'],
    [{ id: 'x'.repeat(201) }, 'It must have at most 200 characters'],
    [{ by: 'ana' }, 'by of run'],
    [{ tags: 'x' }, 'It must be an array.'],
    [{ tags: [''] }, 'tags of run'],
    [{ runId: 'a' }, 'There is no option runId in the options of run.'],
  ])('rejects the run options %j', (options, message) => {
    expect(() => readRunOptions(options)).toThrow(message)
  })
})

test('limits a page to 50 items by default, at most 500', () => {
  const read = (limit?: number) => readOptions('of list', { limit }, { limit: pageLimit }).limit
  expect(read()).toBe(50)
  expect(read(500)).toBe(500)
  expect(() => read(501)).toThrow('It must be a whole number from 1 to 500.')
})
