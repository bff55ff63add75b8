import type { WholeStore } from '@pawl/core/storage'
import type { StoreParts } from './parts.ts'

/** Maximum runs of dead workers handed back in one transaction, which blocks the event loop for a few ms. */
const sweepSize = 1000

export function createWorkers({ connection }: StoreParts): WholeStore['workers'] {
  return {
    register: (worker) => connection.write(({ workers }, at) => workers.register(worker, at)),
    async beat(worker) {
      connection.inspect()
      return connection.write(({ workers }, at) => workers.beat(worker, at))
    },
    async sweep() {
      let handedBack = 0
      // Most sweeps find nothing and then need no lock.
      while (await connection.read(({ workers }, at) => workers.findsWork(at)))
        handedBack += await connection.write(({ workers }, at) => workers.sweep(at, sweepSize))
      return handedBack
    },
    abilities: () => connection.read(({ workers }, at) => workers.listAbilities(at)),
    list: () => connection.read(({ workers }, at) => workers.listWorkers(at)),
    release: (worker) => connection.write(({ workers }, at) => workers.release(worker, at)),
  }
}
