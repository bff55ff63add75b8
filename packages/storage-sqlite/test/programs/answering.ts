// Answers one ask many times at once when told to: `answering <file> <count> <mutation>`, then a position per line.
// Writes how many of its answers won.
import { createInterface } from 'node:readline'
import { type Mutation, makeMutant } from '../support/mutants.ts'

const [, , file = '', count = '', mutation = 'nothing'] = process.argv
const store = makeMutant(file, mutation as Mutation)
await store.open()
console.log('ready')
for await (const position of createInterface(process.stdin)) {
  const outcomes = await Promise.all(
    Array.from({ length: Number(count) }, async (_, index) => {
      const by = `user:${process.pid}:${index}`
      const [outcome] = await store.asks.answer(
        [{ run: 'a', position: Number(position), by, payload: Buffer.from(by) }],
        null,
      )
      return { by, outcome }
    }),
  )
  const winners = outcomes.filter(({ outcome }) => outcome?.outcome === 'answered')
  const reported = new Set(
    outcomes.map(({ outcome }) => (outcome?.outcome === 'closed' ? outcome.ask.answeredBy : null)),
  )
  reported.delete(null)
  console.log(JSON.stringify({ winners: winners.map(({ by }) => by), reported: [...reported] }))
}
await store.close()
