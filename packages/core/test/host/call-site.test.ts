import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { captureCallSite } from '../../src/host/call-site.ts'
import { runProgram } from './run-program.ts'

const program = fileURLToPath(new URL('./programs/call-site.ts', import.meta.url))

/** Line and column of the called name in the program. */
function placeOf(call: string): string {
  const before = readFileSync(program, 'utf8').split(call)[0] ?? ''
  const lines = `${before}${call.slice(0, call.lastIndexOf('.') + 1)}`.split('\n')
  return `${program}:${lines.length}:${(lines.at(-1) ?? '').length + 1}`
}

test('the call site of an operation is the place in the code of its author', async () => {
  const { stdout, stderr } = await runProgram('call-site')
  expect(stderr).toBe('')
  expect(JSON.parse(stdout)).toEqual({
    direct: placeOf("context.step('direct')"),
    afterAwait: placeOf("context.step('after an await')"),
    inHelper: placeOf("context.step('in a helper')"),
    byPackage: placeOf('shareCell('),
  })
})

test('capturing it changes nothing of how errors are made', () => {
  const before = Object.getOwnPropertyDescriptor(Error, 'stackTraceLimit')
  captureCallSite()
  expect(Object.getOwnPropertyDescriptor(Error, 'stackTraceLimit')).toEqual(before)
})

test('it is unknown where stacks are not text', () => {
  const prepare = Error.prepareStackTrace
  Error.prepareStackTrace = (_error, sites) => sites
  try {
    expect(captureCallSite()).toBeUndefined()
  } finally {
    Error.prepareStackTrace = prepare
  }
})
