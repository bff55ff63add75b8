import { copyFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { dumpFile } from '../support/dump.ts'
import type { Mutation } from '../support/mutants.ts'
import { startProgram } from '../support/programs.ts'
import { event, ownedRun, step } from '../support/runs.ts'
import { openStore, tempFile } from '../support/stores.ts'

it('a run whose removal is killed between any two writes is whole, or gone with its decision kept', async () => {
  const { states, torn } = await killEach('nothing', 2)
  expect(torn).toEqual([])
  expect(states).toContain('whole')
  expect(states).toContain('gone')
})

it('without transactions, a killed removal leaves a part of a run', async () => {
  expect((await killEach('without transactions', 4)).torn).not.toEqual([])
})

/** Kills a removal before its first write, and before every further one of each `stride`, until it ends alive. */
async function killEach(mutation: Mutation, stride: number) {
  const template = await makeFile()
  const states: string[] = []
  const torn: string[] = []
  for (let n = 0; ; n += stride) {
    const file = tempFile()
    copyFileSync(template, file)
    const program = await startProgram('removing', [file, mutation, String(n)])
    const isDone = (await program.line()) === 'done'
    await program.end()
    const state = await stateOf(file)
    states.push(state)
    if (state !== 'whole' && state !== 'gone') torn.push(`killed before write ${n}: ${state}`)
    if (isDone) return { states, torn }
  }
}

/** What a later process finds, and whether anything is left once it has cleared. */
async function stateOf(file: string): Promise<string> {
  const store = await openStore(file)
  const decisions = await store.removals.decisions({ run: 'a', procedure: null, before: null, limit: 10 })
  const row = await store.runs.find('a')
  const { asks, events } = dumpFile(file)
  if (row !== null) {
    const isWhole = asks.length === 1 && events.length === row.head + 1 && decisions.length === 0
    return isWhole ? 'whole' : `found, with ${asks.length} asks and ${decisions.length} decisions`
  }
  while (await store.removals.clear(100));
  const left = dumpFile(file)
  const isGone = left.asks.length + left.messages.length === 0 && left.events.length === 1
  return isGone && decisions.length === 1 ? 'gone' : `gone, with ${decisions.length} decisions`
}

async function makeFile(): Promise<string> {
  const file = tempFile()
  const store = await openStore(file)
  const run = await ownedRun(store, 'a')
  const ask = {
    ...{ position: 1, kind: 'approve', key: null, urgency: 1, to: ['user:ana'], escalateTo: [] },
    ...{ dueAt: null, closesAt: null, payload: new Uint8Array(3), answered: null },
  }
  const first = { ...step(run), effects: [{ do: 'open-ask' as const, ask }] }
  await store.log.commit(run.worker, [first])
  await store.asks.answer([{ run: 'a', position: 1, by: 'user:ana', payload: new Uint8Array(2) }], null)
  const events = Array.from({ length: 8 }, (_, k) => event(k + 1))
  const last = { ...step({ ...run, head: 2 }), events, seals: events.map(() => null), seen: 1 }
  await store.log.commit(run.worker, [{ ...last, next: { do: 'end', state: 'completed' } }])
  await ownedRun(store, 'newer')
  await store.close()
  return file
}
