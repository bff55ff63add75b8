import type { WholeStore } from '@pawl/core/storage'
import { prepareWorkers } from '../writes/workers.ts'
import type { StoreParts } from './parts.ts'

export function createWorkers({ database, ownership, hints }: StoreParts): WholeStore['workers'] {
  const workers = prepareWorkers(database, ownership)
  return {
    register: workers.register,
    beat: workers.beat,
    async sweep() {
      const count = await workers.sweep()
      if (count > 0) hints.send()
      return count
    },
    abilities: workers.abilities,
    list: workers.listWorkers,
    async release(worker) {
      await workers.release(worker)
      hints.send()
    },
  }
}
