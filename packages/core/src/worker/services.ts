import type { AskIds } from '../asks/ask-id.ts'
import type { AgentDefinition } from '../authoring/agent/agent.ts'
import type { Policy } from '../authoring/policy/policy.ts'
import type { Bugs, ProcedureDefinition } from '../authoring/procedure.ts'
import type { Sha256 } from '../base/hash.ts'
import type { Notifier } from '../base/notifier.ts'
import type { TurnOwner } from '../kernel/turns.ts'
import type { Clock } from '../ports/clock.ts'
import type { Effects } from '../ports/effects.ts'
import type { Entropy } from '../ports/entropy.ts'
import type { LogLimits } from '../ports/log-limits.ts'
import type { Logger } from '../ports/logger.ts'
import type { Observer } from '../ports/observer.ts'
import type { StorePort } from '../ports/store/store.ts'
import type { WorkerKey } from '../ports/store/workers.ts'
import type { Families } from './families.ts'
import type { Remarks } from './remarks.ts'
import type { RunReports } from './run-reports.ts'
import type { Slots } from './slots.ts'
import type { StoreTime } from './store-time.ts'

/** Limits of the work that a run does synchronously, which blocks the event loop. */
export interface Slices {
  /** Maximum number of operations that start. */
  readonly begun: number
  /** Maximum number of drafts in a unit, which a store may write synchronously. */
  readonly drafts: number
}

/** The services that a procedure uses while its log is delivered. */
export type ProgramServices = Pick<
  WorkerServices,
  'determinism' | 'bugs' | 'logger' | 'effects' | 'decider' | 'escalateTo' | 'policy' | 'remarks'
>

/** The services shared by the runs of a worker. */
export interface WorkerServices {
  readonly store: StorePort
  readonly worker: WorkerKey
  readonly clock: Clock
  readonly time: StoreTime
  readonly entropy: Entropy
  readonly effects: Effects
  readonly sha256: Sha256
  readonly askIds: AskIds
  readonly slots: Slots
  readonly notifier: Notifier
  readonly logger: Logger
  readonly reports: RunReports
  readonly observer: Observer | undefined
  readonly remarks: Remarks
  readonly determinism: TurnOwner['determinism']
  /** What a programming error does to its run, unless the procedure sets it. */
  readonly bugs: Bugs
  /** Number of positive tests of a run alone after which it is quarantined. */
  readonly maxCrashes: number
  readonly logLimits: LogLimits
  readonly families: Families
  readonly escalateTo: string | undefined
  readonly policy: Policy | undefined
  readonly decider: AgentDefinition | undefined
  readonly slices: Slices
  /** Waits for activity outside a turn to show itself before a verdict is final. */
  readonly allowGrace: (onOver: () => void) => void
  /** 'always' replays the whole log in a new continuation for every event, for tests. */
  readonly replay: 'always' | 'when-needed'
  procedure(name: string, version: number): ProcedureDefinition | undefined
  /** Called when a unit was written that changes other runs, which may be owned here or due. */
  tellOthers(): void
}
