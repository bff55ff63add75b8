import { copyFileSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient, createEngine } from '@pawl/core'
import { sqlite } from '@pawl/storage-sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { programs } from './golden/programs.ts'
import { approveAll } from './support/approve-all.ts'
import { isSeven } from './support/models.ts'
import { counts } from './support/uses.ts'

const logs = new URL('./golden/logs/', import.meta.url).pathname
const files = readdirSync(logs).filter((name) => name.startsWith(isSeven ? 'ai-7' : 'ai-6'))

test('there is a file of logs of this major version', () => {
  expect(files).not.toEqual([])
})

test.each(files)('the newest version resumes the runs of %s, and repeats no recorded call', async (name) => {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-golden-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, name)
  copyFileSync(join(logs, name), file)
  const client = createClient({ store: sqlite(file) })
  onTestFinished(() => client.stop())
  const { items: runs } = await client.list({ limit: 500 })
  expect(runs.length).toBeGreaterThan(20)
  const lines: string[] = []
  const note = (line: string) => lines.push(line)
  for (const program of programs) {
    const left = runs.filter(({ procedure }) => procedure === program.procedure.name)
    expect(left.length).toBeGreaterThan(1)
    const recorded = await Promise.all(
      left.map(async ({ id }) => {
        const { execution_log: log } = await client.log(id)
        return log.filter(({ type, status }) => (type === 'llm' || type === 'step') && status === 'done')
          .length
      }),
    )
    Object.assign(counts, { calls: 0, executions: 0, failures: 0 })
    const engine = await createEngine({
      store: sqlite(file),
      procedures: [program.procedure],
      logger: { debug() {}, info() {}, warn: note, error: note },
    })
    for (const { id } of left) approveAll(engine, id)
    const results = await Promise.all(left.map(({ id }) => engine.get(id).result()))
    await engine.stop()
    for (const result of results) expect(result).toEqual(program.use.result)
    const all = (program.use.calls + program.use.executions) * left.length
    expect(counts.calls + counts.executions, program.procedure.name).toBe(
      all - recorded.reduce((sum, count) => sum + count, 0),
    )
  }
  expect(lines).toEqual([])
})
