import { expect, test } from 'vitest'
import { IssueList, issuesIn, oneIssue } from '../../src/base/issues.ts'
import { type Schema, validate } from '../../src/schemas/schema.ts'

test('keeps at most a hundred issues, and reports whether there were more', () => {
  const list = new IssueList()
  for (let n = 0; n < 100; n++) list.add(['list', n], 'is wrong')
  expect(list.isFull).toBe(false)
  expect(Object.keys(list.found)).toEqual(['issues'])
  list.add(['list', 100], 'is wrong')
  expect(list.isFull).toBe(true)
  expect(list.found).toMatchObject({ more: true, issues: { length: 100, 99: { path: 'list[99]' } } })
})

test('truncates long paths and messages of issues, and keeps them well-formed', () => {
  const long = '\u{1F600}'.repeat(1_000_000)
  const list = new IssueList()
  list.add([long, 'a', long], long)
  const [issue] = issuesIn('value', list.found).issues
  expect(issue?.path.length).toBe(200)
  expect(issue?.path).toMatch(/^value\..*…$/u)
  expect(issue?.message.length).toBeLessThanOrEqual(500)
  expect(issue?.message).toContain('2000000 characters in all')
  expect(JSON.stringify(issue)).not.toContain('\\ud')
})

test('prefixes the issues of a part with the name of the part', () => {
  const more = { ...oneIssue('[1].b', 'is wrong'), more: true } as const
  expect(issuesIn('a', more)).toEqual({ more: true, issues: [{ path: 'a[1].b', message: 'is wrong' }] })
  expect(issuesIn('a', oneIssue('', 'is wrong'))).toEqual({ issues: [{ path: 'a', message: 'is wrong' }] })
})

test('reads no more issues of a schema than it keeps', () => {
  let read = 0
  const issues = new Proxy(new Array<unknown>(1_000_000).fill({ message: 'no' }), {
    get: (list, key) => {
      if (key !== 'length') read++
      return Reflect.get(list, key)
    },
  })
  const schema: Schema = { '~standard': { version: 1, vendor: 'wordy', validate: () => ({ issues }) } }
  expect(validate(schema, 1)).toMatchObject({ ok: false, more: true, issues: { length: 100 } })
  expect(read).toBe(101)
})
