// What a procedure lets escape in its turn.  argv: one case, or all; 'bare' leaves the shield away.
// Prints what the run was told, and what listeners of the application heard.
import { installShield } from '../../../src/host/shield.ts'
import { inTurn, ownerOf, type RecordingOwner } from '../turn-support.ts'

const lateHandled: { catch?: () => void } = {}

const cases: { readonly [name: string]: () => void } = {
  tick: () => process.nextTick(() => fail('tick')),
  microtask: () => queueMicrotask(() => fail('microtask')),
  listener: () => {
    const target = new EventTarget()
    target.addEventListener('event', () => fail('listener'))
    target.dispatchEvent(new Event('event'))
  },
  abort: () => {
    const controller = new AbortController()
    controller.signal.addEventListener('abort', () => fail('abort'))
    controller.abort()
  },
  rejection: () => void Promise.reject(new Error('rejection')),
  lateHandled: () => {
    const promise = Promise.reject(new Error('lateHandled'))
    lateHandled.catch = () => void promise.catch(() => {})
  },
}

function fail(what: string): never {
  throw new Error(what)
}

const [, , wanted = 'all', shield] = process.argv
const uninstall = shield === 'bare' ? () => {} : installShield()
const received: string[] = []
if (process.argv.includes('listening')) {
  process.on('uncaughtException', (error) => received.push(`exception ${error.message}`))
  process.on('uncaughtExceptionMonitor', (error) => received.push(`monitor ${error.message}`))
  process.on('unhandledRejection', (reason) => received.push(`rejection ${(reason as Error).message}`))
  process.on('rejectionHandled', () => received.push('handled'))
}

const owners: RecordingOwner[] = []
for (const [name, letEscape] of Object.entries(cases)) {
  if (wanted !== 'all' && wanted !== name) continue
  const owner = ownerOf(name)
  owners.push(owner)
  await inTurn(owner, letEscape)
}
const other = ownerOf('other')
await inTurn(other, () => lateHandled.catch?.())
console.log(
  JSON.stringify({
    reported: Object.fromEntries(owners.map(({ id, reported }) => [id, reported])),
    other: other.reported,
    received,
  }),
)

received.length = 0
if (process.argv.includes('outside')) {
  const unheard = Promise.reject(new Error('outside'))
  await new Promise((resolve) => setTimeout(resolve, 1))
  unheard.catch(() => {})
  setTimeout(() => fail('outside'), 1)
  await new Promise((resolve) => setTimeout(resolve, 10))
  console.log(JSON.stringify({ received }))
}
uninstall()
