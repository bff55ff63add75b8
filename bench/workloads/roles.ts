import { answerToEnd, foreignSignalToEnd, sendSignals, signalToEnd, startToResult } from './latency.ts'
import { killAndGoOn, leaveBehind, takeUp } from './recovery.ts'
import { runFan, runMany, runSequence } from './throughput.ts'
import { rememberWaiting } from './waiting-runs.ts'
import type { Role } from './workload.ts'

/** Everything a process of the bench can be. */
export const roles: { readonly [name: string]: Role } = {
  W1: (job) => runSequence(job),
  W2: (job) => runMany(job),
  W3: (job) => runFan(job),
  W4: (job) => startToResult(job),
  W5: (job) => signalToEnd(job),
  'W5 answer': (job) => answerToEnd(job),
  'W5 other process': (job) => foreignSignalToEnd(job),
  W6: (job) => killAndGoOn(job),
  W7: (job) => rememberWaiting(job),

  sender: sendSignals,
  'leave behind': leaveBehind,
  'take up': takeUp,
}
