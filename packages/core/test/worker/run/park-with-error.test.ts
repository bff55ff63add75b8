import { expect, test } from 'vitest'
import { Notifier, topics } from '../../../src/base/notifier.ts'
import { parkWithError, quarantinedFor } from '../../../src/worker/run/park-with-error.ts'
import { RunReports } from '../../../src/worker/run-reports.ts'
import type { WorkerServices } from '../../../src/worker/services.ts'

const run = { key: 1, id: 'A-1', epoch: 3, procedure: 'refund', wakeAt: undefined, seen: 0 }

/** Parks a run in a store that returns these outcomes in order, and returns the log lines. */
async function put(outcomes: readonly (boolean | Error)[]) {
  const logged: string[] = []
  const left = [...outcomes]
  const notifier = new Notifier()
  notifier.listen(topics.end(run.id), () => logged.push('rang'))
  const say = (level: string) => (message: string) => logged.push(`${level}: ${message}`)
  const logger = { debug: say('debug'), info: say('info'), warn: say('warn'), error: say('error') }
  const clock = { elapsed: () => 0, after: (_ms: number, body: () => void) => void setImmediate(body) }
  const services = {
    store: {
      runs: {
        mark: async () => {
          const outcome = left.shift()
          if (outcome instanceof Error) throw outcome
          return outcome
        },
      },
    },
    worker: 7,
    notifier,
    ...{ clock, logger, time: { now: () => 0 } },
    reports: new RunReports(logger, clock as unknown as WorkerServices['clock']),
  } as unknown as WorkerServices
  await new Promise<void>((resolve) => parkWithError(services, run, quarantinedFor(run.id, 'a gap'), resolve))
  return logged
}

const isQuarantined = expect.stringMatching(
  /^error: Run "A-1" is quarantined \(run-quarantined in procedure "refund"\): a gap\. /,
)

test('logs that a run was marked', async () => {
  expect(await put([true])).toEqual([isQuarantined, 'rang'])
})

test('does not log a mark for a run with another owner', async () => {
  const [logged] = await put([false])
  expect(logged).toBe('warn: Run "A-1" has another owner, which decides whether it is quarantined: a gap')
})

test('retries a mark that could not be written', async () => {
  const logged = await put([new Error('no disk'), true])
  expect(logged).toEqual([
    'error: Run "A-1" could not be marked as quarantined; retrying',
    isQuarantined,
    'rang',
  ])
})
