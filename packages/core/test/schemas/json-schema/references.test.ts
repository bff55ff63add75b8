import { describe, expect, test } from 'vitest'
import { referringSchemas } from '../../../../../test/support/referring-schemas.ts'
import { IssueList } from '../../../src/base/issues.ts'
import { checkJsonSchema } from '../../../src/schemas/json-schema/check.ts'
import { controlOf, propertyControl } from '../../../src/schemas/json-schema/controls.ts'
import { withDefaults } from '../../../src/schemas/json-schema/defaults.ts'
import { isNarrowing } from '../../../src/schemas/narrowing.ts'

function issuesOf(schema: object, value: unknown): readonly unknown[] {
  const list = new IssueList()
  checkJsonSchema(schema, value, '', list)
  return list.found.issues
}

describe.each(referringSchemas)(
  'a part that $name',
  ({ schema, entry, hasField, label, initial, valid, invalid }) => {
    test('has the control of what it refers to', () => {
      const control = propertyControl(schema, 'part')
      expect(control?.kind).toBe(entry)
      expect(control?.title ?? 'part').toBe(label)
      expect(control?.initial).toBe(initial)
      const whole = controlOf(schema)
      expect(whole.kind).toBe(hasField ? 'object' : 'json')
    })

    test('accepts and refuses what it refers to does', () => {
      for (const part of valid) expect(issuesOf(schema, { part })).toEqual([])
      for (const part of invalid) expect(issuesOf(schema, { part })).not.toEqual([])
    })

    test('has the default of what it refers to', () => {
      expect(withDefaults(schema, {})).toEqual(initial === undefined ? {} : { part: initial })
    })

    test('is compared with other schemas by what it refers to', () => {
      const wide = { type: 'object', properties: { part: { type: 'string' } }, required: ['part'] }
      const other = { type: 'object', properties: { part: { type: 'number' } }, required: ['part'] }
      expect(isNarrowing(schema, schema)).toBe(true)
      expect(isNarrowing(schema, other)).toBe(false)
      if (entry === 'text') expect(isNarrowing(schema, wide)).toBe(true)
    })
  },
)

test('defaults of the items of a list that refers to its items are added', () => {
  const schema = {
    type: 'array',
    items: { $ref: '#/$defs/line' },
    $defs: { line: { type: 'object', properties: { count: { default: 1 } } } },
  }
  expect(withDefaults(schema, [{}, { count: 2 }])).toEqual([{ count: 1 }, { count: 2 }])
})
