import { describe, expect, test } from 'vitest'
import { OutputCache } from '../../src/worker/output-cache.ts'

describe('the outputs of runs that have just completed', () => {
  test('finds the output of a completed run, even an empty one', () => {
    const outputs = new OutputCache()
    outputs.add('a', 1, new Uint8Array([1]))
    outputs.add('b', 2, null)
    expect(outputs.find('a')).toMatchObject({ output: new Uint8Array([1]) })
    expect(outputs.find('b')).toMatchObject({ output: null })
    expect(outputs.find('c')).toBeUndefined()
  })

  test('keeps at most a thousand outputs and drops the oldest', () => {
    const outputs = new OutputCache()
    for (let run = 0; run <= 1_000; run++) outputs.add(`run ${run}`, run, null)
    expect(outputs.find('run 0')).toBeUndefined()
    expect(outputs.find('run 1')).toBeDefined()
  })

  test('forgets the output of a run that was deleted', () => {
    const outputs = new OutputCache()
    outputs.add('a', 1, null)
    outputs.add('b', 2, null)
    outputs.forgetRun(1)
    expect(outputs.find('a')).toBeUndefined()
    expect(outputs.find('b')).toBeDefined()
  })

  test('keeps short outputs only', () => {
    const outputs = new OutputCache()
    outputs.add('a', 1, new Uint8Array(4_096))
    outputs.add('b', 2, new Uint8Array(4_097))
    expect(outputs.find('a')).toBeDefined()
    expect(outputs.find('b')).toBeUndefined()
  })
})
