import type { Role } from './workload.ts'

/** Returns where this process has its engine and its stores from. */
function findEngine(): readonly string[] {
  return ['core', 'storage-sqlite', 'storage-postgres'].map((name) => import.meta.resolve(`@pawl/${name}`))
}

/**
 * Everything a process of the bench can be. A process loads its own workload only: an engine that lacks what one
 * of them imports can still do the others.
 */
export const roles: { readonly [name: string]: Role } = {
  W1: lazy(() => import('./throughput.ts'), 'runSequence'),
  W2: lazy(() => import('./throughput.ts'), 'runMany'),
  W3: lazy(() => import('./throughput.ts'), 'runFan'),
  W4: lazy(() => import('./latency.ts'), 'startToResult'),
  W5: lazy(() => import('./latency.ts'), 'signalToEnd'),
  'W5 answer': lazy(() => import('./latency.ts'), 'answerToEnd'),
  'W5 other process': lazy(() => import('./latency.ts'), 'foreignSignalToEnd'),
  W6: lazy(() => import('./recovery.ts'), 'killAndGoOn'),
  W7: lazy(() => import('./waiting-runs.ts'), 'rememberWaiting'),
  race: lazy(() => import('./scopes.ts'), 'raceOfTwo'),
  map: lazy(() => import('./scopes.ts'), 'mapOfMany'),
  plan: lazy(() => import('./plans.ts'), 'planOfMany'),
  children: lazy(() => import('./children.ts'), 'childrenBesideSteps'),
  'children 10,000': lazy(() => import('./children.ts'), 'familyOfMany'),
  kill: lazy(() => import('./recovery.ts'), 'killInTheMiddle'),
  replay: lazy(() => import('./replay.ts'), 'replayFromStore'),
  'start-up': lazy(() => import('./start-up.ts'), 'startAmongMany'),
  answers: lazy(() => import('./answers.ts'), 'answerMany'),
  payloads: lazy(() => import('./payloads.ts'), 'carryPayloads'),
  workers: lazy(() => import('./fleet.ts'), 'shareWork'),
  'stalls runs': lazy(() => import('./stalls.ts'), 'stallOfRuns'),
  'stalls signals': lazy(() => import('./stalls.ts'), 'stallOfSignals'),
  'stalls asks': lazy(() => import('./stalls.ts'), 'stallOfAsks'),
  'stalls steps': lazy(() => import('./stalls.ts'), 'stallOfSteps'),

  'find engine': () => Promise.resolve(findEngine()),
  sender: lazy(() => import('./latency.ts'), 'sendSignals'),
  fill: lazy(() => import('./start-up.ts'), 'fill'),
  'start among many': lazy(() => import('./start-up.ts'), 'startOne'),
  worker: lazy(() => import('./fleet.ts'), 'work'),
  'leave behind': lazy(() => import('./recovery.ts'), 'leaveBehind'),
  'take up': lazy(() => import('./recovery.ts'), 'takeUp'),
  'be killed': lazy(() => import('./recovery.ts'), 'beKilled'),
  'go on': lazy(() => import('./recovery.ts'), 'goOn'),
  soak: lazy(() => import('./soak.ts'), 'workForLong'),
}

function lazy<Name extends string>(load: () => Promise<{ readonly [name in Name]: Role }>, name: Name): Role {
  return async (input, line) => (await load())[name](input, line)
}
