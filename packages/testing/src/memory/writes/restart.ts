import type { NewGeneration } from '@pawl/core/storage'
import { copy, headOf, type Tables } from '../tables.ts'
import { appendEvent } from './event.ts'

export function restartRun(tables: Tables, generation: NewGeneration, at: number): boolean {
  const { head, version, started, link, tags, startedBy, info } = generation
  const run = tables.runsByKey.get(generation.run)
  if (!run || run.state === 'live' || headOf(run) !== head) return false
  Object.assign(run, {
    ...{ state: 'live', mark: 'none', tries: 0, worker: null, wakeAt: at, epoch: run.epoch + 1, base: head },
    ...{ version, link: copy(link), tags: [...tags], startedBy, parent: null, info: copy(info) },
    ...{ endedAt: null, cancelAt: null },
  })
  for (const message of run.messages) Object.assign(message, { isUsed: true, payload: null, key: null })
  run.states.clear()
  run.checkpoints.clear()
  appendEvent(run, started, null, at)
  return true
}
