import { answerMany } from './answers.ts'
import { shareWork, work } from './fleet.ts'
import { answerToEnd, foreignSignalToEnd, sendSignals, signalToEnd, startToResult } from './latency.ts'
import { carryPayloads } from './payloads.ts'
import { beKilled, goOn, killAndGoOn, killInTheMiddle, leaveBehind, takeUp } from './recovery.ts'
import { replayFromStore } from './replay.ts'
import { workForLong } from './soak.ts'
import { fill, startAmongMany, startOne } from './start-up.ts'
import { runFan, runMany, runSequence } from './throughput.ts'
import { rememberWaiting } from './waiting-runs.ts'
import type { Role } from './workload.ts'

/** Everything a process of the bench can be. */
export const roles: { readonly [name: string]: Role } = {
  W1: runSequence,
  W2: runMany,
  W3: runFan,
  W4: startToResult,
  W5: signalToEnd,
  'W5 answer': answerToEnd,
  'W5 other process': foreignSignalToEnd,
  W6: killAndGoOn,
  W7: rememberWaiting,
  kill: killInTheMiddle,
  replay: replayFromStore,
  'start-up': startAmongMany,
  answers: answerMany,
  payloads: carryPayloads,
  workers: shareWork,

  sender: sendSignals,
  fill,
  'start among many': startOne,
  worker: work,
  'leave behind': leaveBehind,
  'take up': takeUp,
  'be killed': beKilled,
  'go on': goOn,
  soak: workForLong,
}
