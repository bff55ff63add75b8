// What scripts/test-runtimes.mjs runs: 200 runs of 20 steps that then wait for a person. Each body writes a line.
// usage: orders.mjs <file> <ledger> <ends>   ends: kill (itself, midway), finish
import { appendFileSync } from 'node:fs'
import { createEngine, procedure } from '@pawl/core'
import { sqlite } from '@pawl/storage-sqlite'
import { z } from 'zod'

const [file, ledger, ends] = process.argv.slice(2)
const orders = 200
const steps = 20
let written = 0

const order = procedure({ name: 'order', input: z.object({ n: z.number() }) }, async (ctx, { n }) => {
  let sum = 0
  for (let i = 0; i < steps; i++) {
    sum += await ctx.step(`step ${i}`, () => {
      appendFileSync(ledger, `${n}/${i}\n`)
      if (ends === 'kill' && ++written === (orders * steps) / 2) process.kill(process.pid, 'SIGKILL')
      return i
    })
  }
  const [answer] = await Promise.all([ctx.human.approve('Ship it?'), ctx.sleep('100ms')])
  return { sum, approved: answer.approved }
})
// It waits for something that is not its ctx's: the engine has to see it on every runtime.
const astray = procedure({ name: 'astray' }, async (ctx) => {
  await ctx.step('first', () => 1)
  await new Promise((resolve) => setTimeout(resolve, 60_000).unref())
})

const failures = []
const logger = { debug() {}, info() {}, warn() {}, error: (message) => failures.push(message) }
const engine = await createEngine({ store: sqlite(file), procedures: [order, astray], logger })
const runs = await Promise.all(
  Array.from({ length: orders }, (_, n) => engine.run(order, { n }, { id: `order:${n}` })),
)
await Promise.all(
  runs.map(async (run) => {
    const ask = await engine.inbox.next({ run: run.id })
    await engine.inbox.answer(ask.id, { approved: true }, { as: 'user:ana' })
  }),
)
const results = await Promise.all(runs.map((run) => run.result()))
const wrong = results.filter(({ sum, approved }) => sum !== (steps * (steps - 1)) / 2 || !approved)

const stray = await engine.run(astray)
const deadline = Date.now() + 10_000
while ((await stray.status()).status !== 'stuck' && Date.now() < deadline) {
  await new Promise((resolve) => setTimeout(resolve, 20))
}
const { status } = await stray.status()
await engine.stop()
console.log(
  JSON.stringify({ runs: results.length, wrong: wrong.length, stray: status, failures: failures.length }),
)
