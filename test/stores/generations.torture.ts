import { onTestFinished, test } from 'vitest'
import { playRounds } from '../support/rounds.ts'
import { makePlaces } from '../support/test-store.ts'

/** Each with three signals, an answer and a child. */
const generations = 10 * Number(process.env['ROUNDS'])
const makePlace = makePlaces()

test(`nothing is lost in ${generations} generations`, async () => {
  const { store, remove } = await makePlace()
  onTestFinished(remove)
  await playRounds(store, 3 * generations, false)
})
