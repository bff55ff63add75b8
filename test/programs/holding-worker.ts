// A worker that is killed as soon as its run holds clients back, before the run ends. Argument: where runs are kept.
import { createEngine, procedure } from '@pawl/core'
import type { Unit } from '@pawl/core/storage'
import { z } from 'zod'
import { openStore } from '../support/kill/open-store.ts'
import { meddleWith } from '../support/meddling-store.ts'

const brief = procedure({ name: 'brief', signals: { tick: z.null() } }, async () => 'done')

const { store, always } = meddleWith(openStore(process.argv[2] ?? ''))
always('log.commit', async (go, [, units], port) => {
  const tick = { run: 'b', kind: 'signal', name: 'tick', key: null, by: null, payload: null } as const
  if ((units as readonly Unit[]).some(({ next }) => next.do === 'end')) await port.mail.send([tick], null)
  return go()
})
always('mail.hold', async (go) => {
  await go()
  process.kill(process.pid, 'SIGKILL')
})
process.stdin.once('end', () => process.exit()).resume()
const engine = await createEngine({ store, procedures: [brief], lease: '1s' })
await engine.run(brief, undefined, { id: 'b' })
process.stdout.write('ready\n')
setInterval(() => {}, 1_000)
