import { expect, test } from 'vitest'
import { hostileRequests } from './support/loop/requests.ts'
import { type Blow, Siege } from './support/loop/siege.ts'

const rounds = Number(process.env['ROUNDS'] ?? 20)
const only = new RegExp(process.env['ONLY'] ?? '')
/** The longest that a request may hold the event loop of an idle machine. */
const maxHeldMs = 500

test('no request holds the event loop for long, and no step begins twice, in 20 rounds', async () => {
  const worst = new Map<string, Blow>()
  await using siege = await Siege.begin()
  for (let round = 0; round < rounds; round++)
    for (const request of hostileRequests) {
      if (!only.test(request.name)) continue
      const blow = await siege.strike(request)
      if (blow.heldMs > (worst.get(blow.name)?.heldMs ?? -1)) worst.set(blow.name, blow)
    }
  const rows = [...worst.values()].toSorted((one, other) => other.heldMs - one.heldMs)
  for (const { name, status, heldMs } of rows)
    process.stdout.write(`${heldMs.toFixed(0).padStart(7)} ms  ${status}  ${name}\n`)
  expect(siege.begins).toBe(1)
  expect(await siege.release()).toBe('held')
  expect(rows.filter(({ heldMs }) => heldMs > maxHeldMs)).toEqual([])
})
