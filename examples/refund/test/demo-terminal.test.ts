import { existsSync, watch } from 'node:fs'
import { appendFile, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startExample } from '../../shared/test/start-example.ts'

/** Many programs write colours into pipes when they find themselves in CI. */
const env = { CI: 'true', FORCE_COLOR: '1', NO_COLOR: undefined, PAWL_STORE: '' }
async function startDemo() {
  const demo = await startExample('../src/demo-terminal', import.meta.url, ['--yes'], env)
  const folder = (await demo.line(/written to/)).trim().split(/\s+/).at(-1) ?? ''
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return { demo, folder }
}

test('the demo in the terminal passes, says so in plain text of 80 columns, and leaves nothing behind', async () => {
  const { demo, folder } = await startDemo()
  const { code } = await demo.ended
  expect(demo.output()).toContain('user:ana approved 400 EUR')
  expect(demo.output()).toContain('replayed  18 operations')
  expect(demo.output()).toContain('17 payments, each made once')
  expect(demo.output()).not.toContain('FAILED')
  expect(code).toBe(0)
  expect(demo.output()).not.toContain('\u001b')
  const lines = demo.output().split('\n')
  expect(lines.filter((line) => line.length > 80 && !line.includes('written to'))).toEqual([])
  expect(existsSync(folder)).toBe(false)
})

test('the demo in the terminal fails when the ledger was tampered with, and says where its files are', async () => {
  const { demo, folder } = await startDemo()
  const ledger = join(folder, 'payments.jsonl')
  await appendFile(ledger, `\n${await firstLine(ledger)}`)
  const { code } = await demo.ended
  expect(demo.output()).toMatch(/FAILED .*A-\d+ was paid 2 times/)
  expect(demo.output()).toContain(`The files are in ${folder}`)
  expect(code).toBe(1)
})

/** Waits until the file holds a whole line. */
async function firstLine(file: string): Promise<string> {
  const read = () => readFile(file, 'utf8').catch(() => '')
  const changes = watch(join(file, '..'))
  try {
    for (let text = await read(); ; text = await read()) {
      const first = text.split('\n').find((line) => line.endsWith('}'))
      if (first !== undefined) return first
      await new Promise((resolve) => changes.once('change', resolve))
    }
  } finally {
    changes.close()
  }
}
