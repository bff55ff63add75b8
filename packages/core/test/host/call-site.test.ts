import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { recordFailure } from '../../src/errors/failure.ts'
import { captureCallSite, findFrames, findThrowSite } from '../../src/host/call-site.ts'
import { runProgram } from './run-program.ts'

const program = fileURLToPath(new URL('./programs/call-site.ts', import.meta.url))

/** Line and column of the called name in the program. */
function placeOf(call: string): string {
  const before = readFileSync(program, 'utf8').split(call)[0] ?? ''
  const lines = `${before}${call.slice(0, call.lastIndexOf('.') + 1)}`.split('\n')
  return `${program}:${lines.length}:${(lines.at(-1) ?? '').length + 1}`
}

test("finds the author's call site of an operation", async () => {
  const { stdout, stderr } = await runProgram('call-site')
  expect(stderr).toBe('')
  expect(JSON.parse(stdout)).toEqual({
    direct: placeOf("context.step('direct')"),
    afterAwait: placeOf("context.step('after an await')"),
    inHelper: placeOf("context.step('in a helper')"),
    byPackage: placeOf('shareCell('),
  })
})

test('captures a call site without changing how errors are created', () => {
  const before = Object.getOwnPropertyDescriptor(Error, 'stackTraceLimit')
  captureCallSite()
  expect(Object.getOwnPropertyDescriptor(Error, 'stackTraceLimit')).toEqual(before)
})

test('returns no call site if stacks are not text', () => {
  const prepare = Error.prepareStackTrace
  Error.prepareStackTrace = (_error, sites) => sites
  try {
    expect(captureCallSite()).toBeUndefined()
  } finally {
    Error.prepareStackTrace = prepare
  }
})

describe('where an error was thrown', () => {
  const core = fileURLToPath(new URL('../../src', import.meta.url))
  const own = `    at refuse (${core}/authoring/options.ts:15:9)`
  const nodes = '    at process.processTicks (node:internal/process/task_queues:103:5)'
  const library = '    at parse (/app/node_modules/yaml/dist/parse.js:7:11)'
  const authors = '    at async load (/app/src/load.ts:4:3)'
  const caller = '    at /app/src/refund.ts:9:1'
  const withStack = (frames: readonly string[], cause?: unknown): object => ({
    name: 'Error',
    message: 'no',
    stack: `Error: no\n${frames.join('\n')}`,
    ...(cause === undefined ? {} : { cause }),
  })

  test("finds the innermost frame of the author, and shows the author's frames first", () => {
    const error = withStack([own, nodes, library, authors, caller])
    expect(findThrowSite(error)).toBe('/app/src/load.ts:4:3')
    expect(findFrames(error)).toBe([authors, caller, own, nodes, library].join('\n'))
  })

  test('names the file of a module that its loader passes as a data: URL', () => {
    const url = `data:text/javascript,${encodeURIComponent('var secret = (1)')}?filePath=${encodeURIComponent('/app/a b/refund.ts?namespace=1')}`
    const error = withStack([nodes, `    at load (${url}:6:41)`, `    at data:text/javascript,x(1):2:3`])
    expect(findThrowSite(error)).toBe('/app/a b/refund.ts:6:41')
    expect(recordFailure(error).stack).toBe(
      [nodes, '    at load (/app/a b/refund.ts:6:41)', '    at data:text/javascript:2:3'].join('\n'),
    )
  })

  test("finds a library's frame if there is none of the author", () => {
    const error = withStack([nodes, library])
    expect(findThrowSite(error)).toBe('/app/node_modules/yaml/dist/parse.js:7:11')
    expect(findFrames(error)).toBe([nodes, library].join('\n'))
  })

  test('finds the frame of the cause, if Pawl wrapped an error', () => {
    const error = withStack([own, nodes], withStack([library], withStack([nodes, caller])))
    expect(findThrowSite(error)).toBe('/app/src/refund.ts:9:1')
    expect(findFrames(error)).toBe([caller, nodes].join('\n'))
  })

  test('finds the same frame for an error and its record', () => {
    const error = new TypeError('no')
    const [first] = error.stack?.split('\n').slice(1) ?? []
    expect(findThrowSite(error)).toMatch(/call-site\.test\.ts:\d+:\d+$/)
    expect(findThrowSite(recordFailure(error))).toBe(findThrowSite(error))
    expect(findFrames(error)?.split('\n')[0]).toBe(first)
    expect(findFrames(recordFailure(error))).toBe(findFrames(error))
  })

  test('finds no frame for values without a readable stack', () => {
    const circular = withStack([own]) as { cause?: unknown }
    circular.cause = circular
    const odd = Object.defineProperty({}, 'stack', {
      get: () => {
        throw new Error('no')
      },
    })
    for (const thrown of ['text', null, undefined, {}, { stack: 5 }, withStack([]), odd]) {
      expect(findThrowSite(thrown)).toBeUndefined()
      expect(findFrames(thrown)).toBeUndefined()
    }
    expect(findThrowSite(circular)).toBeUndefined()
    expect(findFrames(circular)).toBe(own)
  })
})
