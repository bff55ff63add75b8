import { describe } from 'vitest'
import { makeStageTest } from './stage.ts'
import type { StoreSubject } from './subject.ts'
import { describeAnswers } from './topics/answers.ts'
import { describeAskList } from './topics/ask-list.ts'
import { describeCancels } from './topics/cancels.ts'
import { describeCheckpoints } from './topics/checkpoints.ts'
import { describeClaims } from './topics/claims.ts'
import { describeCommit } from './topics/commit.ts'
import { describeConnections } from './topics/connections.ts'
import { describeCrashLoopClaims } from './topics/crash-loop-claims.ts'
import { describeCrashLoops } from './topics/crash-loops.ts'
import { describeCreate } from './topics/create.ts'
import { describeDamage } from './topics/damage.ts'
import { describeEarlyAnswers } from './topics/early-answers.ts'
import { describeFamilies } from './topics/families.ts'
import { describeFeed } from './topics/feed.ts'
import { describeFencing } from './topics/fencing.ts'
import { describeGenerations } from './topics/generations.ts'
import { describeHolds } from './topics/holds.ts'
import { describeInstall } from './topics/install.ts'
import { describeLoad } from './topics/load.ts'
import { describeMarks } from './topics/marks.ts'
import { describeNotices } from './topics/notices.ts'
import { describeOtherRuns } from './topics/other-runs.ts'
import { describeOutgoing } from './topics/outgoing.ts'
import { describeParking } from './topics/parking.ts'
import { describeRemovals } from './topics/removals.ts'
import { describeRunList } from './topics/run-list.ts'
import { describeSend } from './topics/send.ts'
import { describeStates } from './topics/states.ts'
import { describeUnclaimable } from './topics/unclaimable.ts'
import { describeWorkers } from './topics/workers.ts'

export { type DifferentialOptions, storeDifferential } from './differential/store-differential.ts'
export { memorySubject } from './memory-subject.ts'
export type {
  Damage,
  Dump,
  DumpedAsk,
  DumpedCheckpoint,
  DumpedMessage,
  DumpedRun,
  DumpedState,
  Place,
  StoreSubject,
} from './subject.ts'

/**
 * Declares the specification of the store port as vitest tests. Call it in a test file of the store. After every
 * test it reads the tables directly and checks that acknowledged data is stored, that refused data left no trace,
 * and that all invariants hold.
 * @example
 * storeConformance({ name: 'sqlite', make: () => ({ store: sqlite(file), dump, remove }) })
 */
export function storeConformance(subject: StoreSubject): void {
  const test = makeStageTest(subject)
  describe(`store ${subject.name}`, () => {
    describeWorkers(test)
    describeCreate(test)
    describeInstall(test)
    describeRemovals(test)
    describeCommit(test)
    describeFencing(test)
    describeParking(test)
    describeSend(test)
    describeEarlyAnswers(test)
    describeAnswers(test)
    describeCancels(test)
    describeFamilies(test)
    describeHolds(test)
    describeOtherRuns(test)
    describeOutgoing(test)
    describeStates(test)
    describeCheckpoints(test)
    describeNotices(test)
    describeGenerations(test)
    describeDamage(test)
    describeAskList(test)
    describeFeed(test)
    describeClaims(test)
    describeCrashLoops(test)
    describeCrashLoopClaims(test)
    describeMarks(test)
    describeUnclaimable(test)
    describeLoad(test)
    describeRunList(test)
    describeConnections(test)
  })
}
