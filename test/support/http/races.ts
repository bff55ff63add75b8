import type { Store } from '@pawl/core'
import { expect } from 'vitest'
import { raceAnswers } from './race.ts'

/** Of two answers at once one is accepted, and the other is told the winner, who is in the log. */
export async function expectOneWinner(stores: readonly [Store, Store], count: number): Promise<void> {
  const { races, recorded } = await raceAnswers(stores, count)
  expect(races).toHaveLength(count)
  expect(races.filter(({ statuses }) => statuses.join() !== '200,409')).toEqual([])
  expect(races.filter(({ code }) => code !== 'ask-closed')).toEqual([])
  expect(races.map(({ told }) => told)).toEqual(races.map(({ winner }) => winner))
  expect(recorded).toEqual(races.map(({ winner }) => winner))
}
