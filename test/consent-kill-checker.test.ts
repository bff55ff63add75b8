import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from './support/bundle.ts'
import { acknowledgeNothing } from './support/kill/check.ts'
import { checkReleases } from './support/kill/consent/kill-consents.ts'
import { noteEffect } from './support/kill/effects.ts'
import type { EventRow, RunRow } from './support/kill/place.ts'

// What the tests that kill workers in a gate and a plan say is worth as much as their checker finds.

const [started, settled, ended] = [0, 3, 6]
const [step, approval, undo] = [0, 5, 11]

/** The results of a release, in the order of its log. */
const sound: readonly (readonly [kind: number, name: string])[] = [
  [step, 'pay · policy'],
  [step, 'pay · facts'],
  [approval, 'pay · approve'],
  [step, 'pay · facts'],
  [step, 'pay'],
  [step, 'load'],
  [approval, 'post · approve'],
  [step, 'post'],
  [approval, 'mail · decide'],
  [step, 'feed'],
  [step, 'mail'],
  [approval, 'live · verify'],
  [undo, 'mail'],
  [undo, 'feed'],
  [undo, 'post'],
]

async function look(results: typeof sound, ends = 1, run: Partial<RunRow> = {}): Promise<readonly string[]> {
  const folder = await temporaryFolder()
  onTestFinished(() => rm(folder, { recursive: true }))
  const ledger = join(folder, 'ledger.ndjson')
  const of = (type: number, kind: number | null = null, name = ''): Partial<EventRow> => ({
    type,
    kind,
    name,
  })
  const made = [
    of(started),
    ...results.map(([kind, name]) => of(settled, kind, name)),
    ...Array.from({ length: ends }, () => of(ended)),
  ]
  const events = made.map(
    (event, seq) => ({ run: 1, seq, at: seq, epoch: 1, position: seq, payload: null, ...event }) as EventRow,
  )
  for (const [kind, name] of results)
    if (!name.includes(' · ')) {
      const effect = kind === undo ? `undo ${name}` : name
      noteEffect(ledger, { run: 'release', step: effect, key: effect, pid: 1, processAt: 0 })
    }
  const row = { run: 1, id: 'release', state: 1, mark: 0, head: events.length, ...run }
  const rows = { runs: [row], events, asks: [], changes: [], damage: [] }
  return checkReleases(rows, ledger, acknowledgeNothing()).problems
}

const without = (...left: readonly string[]): typeof sound => sound.filter(([, name]) => !left.includes(name))
const swapped = (a: number, b: number): typeof sound =>
  sound.map((one, at) => (at === a ? sound[b] : at === b ? sound[a] : one) as typeof one)

test('nothing is wrong with a release whose actions have a yes and are undone in reverse', async () => {
  expect(await look(sound)).toEqual([])
})

test.each<readonly [string, typeof sound, string]>([
  ['an action of the plan without its yes', without('post · approve'), 'post has 0 consents and 1 results'],
  ['an action without the decision of the agent', without('mail · decide'), 'mail has 0 consents'],
  ['a yes without its action', without('pay'), 'pay has 1 consents and 0 results'],
  ['a second action for one yes', [...sound, [step, 'pay']], 'pay has 1 consents and 2 results'],
  ['an action before its yes', swapped(2, 4), 'pay has 1 consents and 1 results'],
  ['an undo that is missing', sound.slice(0, -1), 'undone is [mail, feed], and should be [mail, feed, post]'],
  ['undos in another order', swapped(12, 13), 'undone is [feed, mail, post]'],
  ['an action that never came', without('feed'), 'undone is [mail, post]'],
])('found: %s', async (_, results, problem) => {
  expect((await look(results)).join('\n')).toContain(problem)
})

test('found: a release that does not end once, is put aside, or is not completed', async () => {
  for (const problems of [
    look(sound, 0),
    look(sound, 2),
    look(sound, 1, { mark: 1 }),
    look(sound, 1, { state: 0 }),
  ])
    expect((await problems).join('\n')).toContain('it does not end once')
})
