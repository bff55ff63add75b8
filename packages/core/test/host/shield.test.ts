import { describe, expect, test } from 'vitest'
import { installShield } from '../../src/host/shield.ts'
import { turns } from '../../src/host/turn.ts'
import { runProgram } from './run-program.ts'
import { ownerOf } from './turn-support.ts'

const reported = {
  tick: ['escaped tick'],
  microtask: ['escaped microtask'],
  listener: ['escaped listener'],
  abort: ['escaped abort'],
  rejection: ['unhandled rejection'],
  lateHandled: ['unhandled lateHandled', 'handled'],
}

describe('what escapes in a turn', () => {
  test('reports an escaped exception to its run and not to the application', async () => {
    const { code, stdout, stderr } = await runProgram('escapes', ['all', 'shield', 'listening'])
    expect(stderr).toBe('')
    expect(JSON.parse(stdout)).toEqual({ reported, other: [], received: [] })
    expect(code).toBe(0)
  })

  test.each(['tick', 'rejection'])('kills a process without a shield: %s', async (what) => {
    const { code, stderr } = await runProgram('escapes', [what, 'bare'])
    expect(code).toBe(1)
    expect(stderr).toContain(`Error: ${what}`)
  })

  test.each([
    [1, 8],
    [4, 2],
    [20, 5],
    [200, 1],
  ])('assigns exceptions to their runs: %i with %i exceptions each', async (runs, each) => {
    const { code, stdout, stderr } = await runProgram('many-escapes', [String(runs), String(each)])
    expect(stderr).toBe('')
    expect(JSON.parse(stdout)).toEqual({ kept: runs * each, drained: runs })
    expect(code).toBe(0)
  })

  test.each(['strict', 'warn', 'none', 'warn-with-error-code'])(
    'assigns a rejection to its run with --unhandled-rejections=%s',
    async (mode) => {
      const { code, stdout } = await runProgram('escapes', ['all'], [`--unhandled-rejections=${mode}`])
      expect(JSON.parse(stdout).reported).toEqual(reported)
      expect(code).toBe(0)
    },
  )
})

describe('what escapes outside turns', () => {
  test('leaves exceptions outside turns to the listeners of the application', async () => {
    const { code, stdout } = await runProgram('escapes', ['none', 'shield', 'listening', 'outside'])
    expect(JSON.parse(stdout.split('\n')[1] ?? '')).toEqual({
      received: ['rejection outside', 'handled', 'monitor outside', 'exception outside'],
    })
    expect(code).toBe(0)
  })

  test('keeps an exception outside turns fatal without a listener', async () => {
    const { code, stderr } = await runProgram('escapes', ['none', 'shield', 'outside'])
    expect(code).toBe(1)
    expect(stderr).toContain('Error: outside')
  })

  test('does not assign internal errors to a run', async () => {
    const { code, stdout, stderr } = await runProgram('engine-fault')
    expect(code).toBe(1)
    expect(stderr).toContain('Error: a fault of the engine')
    expect(stdout).toBe('told: \n')
  })
})

describe('the shield', () => {
  test('restores process.emit when the last engine is stopped', () => {
    const before = Object.getOwnPropertyDescriptor(process, 'emit')
    const emit = process.emit
    const first = installShield()
    const shielded = process.emit
    const second = installShield()
    expect(shielded).not.toBe(emit)
    expect(process.emit).toBe(shielded)
    first()
    first()
    expect(process.emit).toBe(shielded)
    second()
    expect(Object.getOwnPropertyDescriptor(process, 'emit')).toEqual(before)
  })

  test('stays in place without effect if process.emit was wrapped again', () => {
    const before = Object.getOwnPropertyDescriptor(process, 'emit')
    const uninstall = installShield()
    const shielded = process.emit
    const wrap = function (this: typeof process, ...event: Parameters<typeof shielded>) {
      return Reflect.apply(shielded, this, event)
    } as typeof process.emit
    process.emit = wrap
    uninstall()
    expect(process.emit).toBe(wrap)

    const received: unknown[] = []
    process.once('pawl-test' as 'exit', (value) => received.push(value))
    process.emit('pawl-test' as 'exit', 7)
    expect(received).toEqual([7])

    if (before === undefined) Reflect.deleteProperty(process, 'emit')
    else Object.defineProperty(process, 'emit', before)
  })

  test('passes other events through during a turn', () => {
    const uninstall = installShield()
    const received: unknown[] = []
    process.once('pawl-test' as 'exit', (value) => received.push(value))
    turns.current = ownerOf('run')
    const listened = process.emit('pawl-test' as 'exit', 8)
    turns.current = null
    uninstall()
    expect(received).toEqual([8])
    expect(listened).toBe(true)
  })
})
