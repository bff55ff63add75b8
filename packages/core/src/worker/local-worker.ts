import { canExecute } from '../ports/abilities.ts'
import type { LocalWorker } from '../ports/local-worker.ts'
import type { Claims } from './claims.ts'
import type { Lease } from './lease.ts'
import type { LoadedRuns } from './loaded-runs.ts'
import type { Procedures } from './procedures.ts'
import type { StoreTime } from './store-time.ts'

export interface LocalWorkerParts {
  readonly procedures: Procedures
  readonly lease: Pick<Lease, 'isProven'>
  readonly claims: Pick<Claims, 'claimant' | 'takesWork' | 'claimSoon'>
  readonly runs: Pick<
    LoadedRuns,
    | 'has'
    | 'hasId'
    | 'outputOf'
    | 'forgetOutput'
    | 'onRemoved'
    | 'checkOf'
    | 'begin'
    | 'adopt'
    | 'deliver'
    | 'readMailCounters'
  >
  readonly time: Pick<StoreTime, 'learn'>
  /** False before the worker has started, and once it stops. */
  readonly isWorking: () => boolean
  readonly onError: (error: unknown) => void
}

/** Creates the view of the worker for a client in the same process. */
export function createLocalWorker(parts: LocalWorkerParts): LocalWorker {
  const { procedures, lease, claims, runs, time, isWorking, onError } = parts
  return {
    claimant: () => (claims.takesWork ? claims.claimant : null),
    knows: (procedure, version) => canExecute(procedures.versions, procedure, version),
    signalsOf(procedure, version) {
      const definition = procedures.find(procedure, version)
      return definition === undefined ? undefined : [...definition.signals.keys()]
    },
    checkOf: (run, position) => runs.checkOf(run, position),
    holds: (run) => lease.isProven && runs.hasId(run),
    outputOf: (run) => runs.outputOf(run),
    onCreated({ claimed, started, worker }) {
      if (!isWorking()) return
      time.learn(started.at)
      runs.begin(claimed, started, worker)
    },
    onClaimed(claimed, message, worker) {
      if (!isWorking()) return
      if (message !== null) time.learn(message.at)
      runs.adopt(claimed, message, worker)
    },
    onMail(run, message) {
      // Parked while the message was being stored: the run is due, and the sender could not claim it.
      if (!runs.has(run)) claims.claimSoon()
      else if (message !== null) runs.deliver(run, message)
      else runs.readMailCounters().catch(onError)
    },
    onRestarted(run) {
      runs.forgetOutput(run)
      claims.claimSoon()
    },
    onRemoved: (run) => runs.onRemoved(run),
    onDue: () => claims.claimSoon(),
  }
}
