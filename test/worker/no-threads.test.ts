import { createEngine, procedure } from '@pawl/core'
import { memory } from '@pawl/testing'
import { expect, onTestFinished, test, vi } from 'vitest'

// As `node --permission` does without --allow-worker.
vi.mock('node:worker_threads', async (original) => ({
  ...(await original<typeof import('node:worker_threads')>()),
  Worker: class {
    constructor() {
      throw new Error('no thread may be started')
    }
  },
}))

const plain = procedure({ name: 'plain' }, (ctx) => ctx.step('go on', () => 'went'))

test('runs continue without worker threads after one log line, even if the logger throws', async () => {
  const reported: string[] = []
  const warn = (message: string): never => {
    reported.push(message)
    throw new Error('the logger is broken')
  }
  const logger = { debug() {}, info() {}, warn, error: console.error }
  const engine = await createEngine({ store: memory(), procedures: [plain], logger })
  onTestFinished(() => engine.stop())
  for (let index = 0; index < 2; index++) expect(await (await engine.run(plain)).result()).toBe('went')
  expect(reported).toEqual([expect.stringContaining('blocked turns and steps are not reported')])
})
