import type { WholeStore } from '@pawl/core/storage'
import type { MemoryConnection } from '../connection.ts'
import { addWorker, beat, listAbilities, listWorkers, release, sweep } from '../writes/workers.ts'

export function createWorkers(connection: MemoryConnection): WholeStore['workers'] {
  const { tables } = connection
  return {
    register: (worker) =>
      connection.read((now) => {
        const record = addWorker(tables, worker, now)
        connection.workers.push(record)
        return record.worker
      }),
    beat: (worker) => connection.read((now) => beat(tables, worker, now)),
    sweep: () =>
      connection.write(
        (now) => sweep(tables, now),
        (count) => count > 0,
      ),
    abilities: () => connection.read((now) => listAbilities(tables, now)),
    list: () => connection.read((now) => listWorkers(tables, now)),
    release: (worker) => connection.write((now) => release(tables, worker, now)),
  }
}
