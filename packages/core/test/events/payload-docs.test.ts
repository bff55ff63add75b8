import { readFileSync } from 'node:fs'
import { runInThisContext } from 'node:vm'
import { describe, expect, test } from 'vitest'
import { decodePayload, encodePayload } from '../../src/events/codec.ts'
import { findDifference } from './same-value.ts'

const page = readFileSync(new URL('../../../../docs/guides/payloads.md', import.meta.url), 'utf8')

describe('docs/guides/payloads.md is right that', () => {
  test.each(readTable('Values that are preserved'))(
    'restores %s unchanged, as docs/guides/payloads.md says',
    (code) => {
      const value = evaluate(code)
      expect(findDifference(decodePayload(encodePayload(value, 'value')), value)).toBeUndefined()
    },
  )

  test.each(readTable('Values that are simplified'))(
    'restores %s as %s, as docs/guides/payloads.md says',
    (code, expected) => {
      const decoded = decodePayload(encodePayload(evaluate(code), 'value'))
      expect(findDifference(decoded, evaluate(expected as string))).toBeUndefined()
    },
  )

  test.each(readTable('Values that are rejected'))(
    'rejects %s as docs/guides/payloads.md says',
    (code, message) => {
      const value = evaluate(code)
      expect(() => encodePayload(value, 'value')).toThrow(message as string)
    },
  )

  test('reads the tables of docs/guides/payloads.md', () => {
    expect(readTable('Values that are preserved').length).toBeGreaterThan(25)
    expect(readTable('Values that are simplified').length).toBeGreaterThan(3)
    expect(readTable('Values that are rejected').length).toBeGreaterThan(20)
  })
})

/** The code of the first two cells of each row in a section; undefined for a cell without code. */
function readTable(heading: string): [string, string | undefined][] {
  const section = page.split(/^## /m).find((part) => part.startsWith(heading)) ?? ''
  return section
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => {
      const [first, second] = line
        .split('|')
        .slice(1)
        .map((cell) => /^\s*`(.*)`\s*$/.exec(cell)?.[1])
      return [first as string, second]
    })
}

function evaluate(code: string): unknown {
  return runInThisContext(`(${code})`)
}
