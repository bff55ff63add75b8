// Turns and step bodies that keep the event loop.  argv: 'endless' for a turn that does, or a folder: then several
// kinds, each until a file of its number appears there.  Prints what the engine was told; then it has to end by
// itself, although it keeps watching.
import { AsyncLocalStorage } from 'node:async_hooks'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { drain } from '../../../src/host/drain.ts'
import { type Held, startWatchdog, watchFromNowOn } from '../../../src/host/watchdog/watchdog.ts'
import { runToEnd } from '../run-to-end.ts'
import { ownerOf } from '../turn-support.ts'

const boundMs = 200
const events = new EventTarget()
const reported: (Held & { readonly request: string | undefined })[] = []
const requests = new AsyncLocalStorage<string>()
const watch = () =>
  startWatchdog({
    boundMs,
    onHeld: (held) => {
      reported.push({ ...held, request: requests.getStore() })
      events.dispatchEvent(new Event('held'))
    },
  })

const [, , folder = ''] = process.argv
const parent = process.ppid
let released = 0

/** Ends the process if the test was killed. */
function endIfOrphaned(): void {
  if (process.ppid !== parent) process.exit(1)
}

function blockUntilReleased(): void {
  const file = join(folder, String(++released))
  while (!existsSync(file)) endIfOrphaned()
}

function blockTooLong(): void {
  const until = performance.now() + 2 * boundMs
  while (performance.now() < until);
}

function holdTurn(turn: () => unknown): Promise<void> {
  const driven = {
    ...ownerOf('A-1'),
    outstanding: 1,
    deliverNext() {
      driven.outstanding = 0
      turn()
    },
  }
  return new Promise((resolve) => drain(driven, resolve))
}

async function untilReported(hold: () => Promise<unknown>): Promise<void> {
  const awake = setInterval(() => {}, 1000) // the watchdog would let the process end
  const held = once(events, 'held')
  await hold()
  await held
  clearInterval(awake)
}

const soon = () => new Promise((resolve) => setTimeout(resolve, 1))
const owner = (step: string) => ({ describe: `step "${step}" of run "A-1"`, onUnhandled: () => {} })
const stop = watch()
requests.run('the first', watchFromNowOn)

if (folder === 'endless')
  await holdTurn(async () => {
    for (;;) await endIfOrphaned()
  })

await untilReported(() => holdTurn(blockUntilReleased))
// Code of the application itself is not reported.
blockTooLong()
await untilReported(() => runToEnd(owner('parse'), blockUntilReleased))
const slow = runToEnd(
  owner('load'),
  () => new Promise<void>((resolve) => events.addEventListener('held', () => resolve())),
)
await untilReported(() =>
  runToEnd(owner('sort'), async () => {
    await soon()
    blockUntilReleased()
  }),
)
await slow

stop()
await runToEnd(owner('unwatched'), blockTooLong)
watch()
await runToEnd(owner('short'), soon)
await new Promise((resolve) => setTimeout(resolve, boundMs))
console.log(JSON.stringify(reported.map(({ heldMs, ...rest }) => ({ ...rest, long: heldMs >= boundMs }))))
