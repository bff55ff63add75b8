import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { installOnce, shareCell } from '../../../src/host/process/wide.ts'
import { runProgram } from '../run-program.ts'

describe('a change of the process', () => {
  test('applies a change for the first user and reverts it for the last', () => {
    const made: string[] = []
    const install = () => {
      made.push('installed')
      return () => made.push('removed')
    }
    const first = installOnce('test-once', install)
    const second = installOnce('test-once', install)
    expect(made).toEqual(['installed'])
    first()
    first()
    expect(made).toEqual(['installed'])
    second()
    expect(made).toEqual(['installed', 'removed'])
    installOnce('test-once', install)()
    expect(made).toEqual(['installed', 'removed', 'installed', 'removed'])
  })

  test('does not count a change that fails', () => {
    const fail = () => {
      throw new Error('frozen')
    }
    expect(() => installOnce('test-fails', fail)).toThrow('frozen')
    let removed = false
    installOnce('test-fails', () => () => {
      removed = true
    })()
    expect(removed).toBe(true)
  })
})

test('creates a cell once, hidden among the globals', () => {
  const cell = shareCell('test-cell', () => ({ made: 1 }))
  expect(shareCell('test-cell', () => ({ made: 2 }))).toBe(cell)
  expect(Object.keys(globalThis)).not.toContain('@pawl/core/test-cell')
})

test('shares turns, bodies, shield, guard and natives between two copies of the package', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-copies-'))
  try {
    const { stdout, stderr } = await runProgram('two-copies', [folder])
    expect(stderr).toBe('')
    expect(JSON.parse(stdout)).toEqual({
      separate: true,
      wrappedOnce: true,
      sharedTurn: 'of the first',
      virtual: true,
      staysForSecond: true,
      strays: ['stray'],
      gone: true,
    })
  } finally {
    rmSync(folder, { recursive: true })
  }
})
