import { appendFile, readFile, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { appendLine, readLines, replaceLines } from '../src/json-lines.ts'
import { makeFolder } from './start-example.ts'

test('a line that a kill cut off anywhere is never there, and all others are', async () => {
  const file = join(await makeFolder(), 'ledger', 'payments.jsonl')
  expect(await readLines(file)).toEqual([])
  const [first, cut, last] = [
    { order: 'A-1', amount: 1 },
    { order: 'A-2 {"}', amount: 2 },
    { order: 'A-3', amount: 3 },
  ]
  await appendLine(file, first)
  const { length } = await readFile(file)
  for (let kept = 0; kept <= JSON.stringify(cut).length; kept++) {
    await truncate(file, length)
    await appendLine(file, cut)
    await truncate(file, length + kept)
    expect(await readLines(file)).toEqual([first])
    await appendLine(file, last)
    expect(await readLines(file)).toEqual([first, last])
  }
  await truncate(file, length)
  await appendLine(file, cut)
  await appendLine(file, last)
  expect(await readLines(file)).toEqual([first, cut, last])
})

test('lines are replaced as a whole, and what half a try left behind is not in the way', async () => {
  const file = join(await makeFolder(), 'feed.jsonl')
  await appendLine(file, { slug: 'a' })
  await appendLine(file, { slug: 'b' })
  await appendFile(`${file}.new`, '\n{"slug":"half')
  await replaceLines(file, [{ slug: 'b' }])
  expect(await readLines(file)).toEqual([{ slug: 'b' }])
  await appendLine(file, { slug: 'c' })
  expect(await readLines(file)).toEqual([{ slug: 'b' }, { slug: 'c' }])
})
