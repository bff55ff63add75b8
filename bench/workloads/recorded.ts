import type { Client } from '@pawl/core'
import { check } from '../base/check.ts'

/** The log in the store says what a run of steps did: each once, in order, with its result. */
export async function checkSteps(client: Client, id: string, steps: number): Promise<void> {
  const { execution_log: entries } = await client.log(id)
  const recorded = entries.map(({ position, type, name, status, result }) => [
    position,
    type,
    name,
    status,
    result,
  ])
  const expected = Array.from({ length: steps }, (_, i) => [i, 'step', 'step', 'done', i])
  check(`the log of ${id}`, recorded, expected)
}
