// The engine itself fails in a delivery: the drain must surface it, and the shield must not take it for a run's.
import { type Driven, drain } from '../../../src/host/drain.ts'
import { installShield } from '../../../src/host/shield.ts'
import { ownerOf } from '../turn-support.ts'

installShield()
const owner = ownerOf('run')
process.on('exit', () => console.log(`told: ${owner.reported.join()}`))
const driven: Driven = {
  ...owner,
  outstanding: 1,
  deliverNext() {
    throw new Error('a fault of the engine')
  },
}
drain(driven, () => {})
