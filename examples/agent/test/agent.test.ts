import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { testEngine } from '@pawl/testing'
import { expect, onTestFinished, test } from 'vitest'
import { startExample } from '../../shared/test/start-example.ts'
import { createDesk } from '../src/desk.ts'
import { Services } from '../src/services.ts'

test.each([true, false])(
  'the desk refunds only what a person approves, with a crash after every commit: %s',
  async (approved) => {
    const folder = mkdtempSync(join(tmpdir(), 'pawl-agent-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const services = new Services(join(folder, 'services.jsonl'))
    const turns: number[] = []
    const desk = createDesk({ services, onCall: async (turn) => void turns.push(turn) })
    const answer = approved
      ? { approved, params: { order: 'A-1', cents: 4_000 } }
      : { approved, comment: 'no' }
    await using engine = await testEngine({
      procedures: [desk],
      humans: [{ ask: /^Refund 4500 cents/, answer }],
    })
    await engine.crash('every')
    const run = await engine.run(desk, { question: 'Order A-1 arrived broken.' })
    expect(await run.result()).toBe('The customer has been told.')
    expect(turns).toEqual([0, 1, 2, 3])
    expect((await services.effects()).map(({ what }) => what)).toEqual([
      'note to A-1: The box arrived broken.',
      ...(approved ? ['refund of 4000 cents for A-1'] : []),
    ])
  },
)

test('the demo passes although its worker is killed twice', async () => {
  const demo = await startExample('../src/demo', import.meta.url, ['--yes'])
  const { code } = await demo.ended
  expect(demo.output()).toContain('the tool ran with what was approved, once')
  expect(demo.output()).not.toContain('FAILED')
  expect(code, demo.output()).toBe(0)
})
