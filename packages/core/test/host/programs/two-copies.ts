// Two copies of the package in one process, as two dependants may bring them.  argv: a folder to copy into.
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { BodyOwner } from '../../../src/host/body.ts'
import { runToEnd } from '../run-to-end.ts'
import { ownerOf, turnTime } from '../turn-support.ts'

const source = join(import.meta.dirname, '../../../src')
const [, , folder = ''] = process.argv

async function loadCopy(name: string) {
  const copy = join(folder, name)
  cpSync(source, copy, { recursive: true })
  const load = <Module>(file: string): Promise<Module> => import(pathToFileURL(join(copy, 'host', file)).href)
  const [turn, body, shield, guard, natives, entropy] = await Promise.all([
    load<typeof import('../../../src/host/turn.ts')>('turn.ts'),
    load<typeof import('../../../src/host/body.ts')>('body.ts'),
    load<typeof import('../../../src/host/shield.ts')>('shield.ts'),
    load<typeof import('../../../src/host/guard/guard.ts')>('guard/guard.ts'),
    load<typeof import('../../../src/host/natives.ts')>('natives.ts'),
    load<typeof import('../../../src/host/entropy.ts')>('entropy.ts'),
  ])
  return { ...turn, ...body, ...shield, ...guard, ...natives, ...entropy }
}

const NativeDate = Date
const one = await loadCopy('one')
const two = await loadCopy('two')

const removeFirst = [one.installShield(), one.installGuard('virtual')]
const installed = { emit: process.emit, Date }
const removeSecond = [two.installShield(), two.installGuard('error')]
const wrappedOnce = process.emit === installed.emit && Date === installed.Date

one.turns.current = ownerOf('of the first')
const sharedTurn = two.turns.current?.id
const virtual = Date.now() === turnTime
one.turns.current = null

// Loaded while the guard is in place, as by an application that loads its code again; the guard would refuse.
const three = await loadCopy('three')
one.turns.current = ownerOf('refuses', 'error')
for (const call of [three.dateNow, three.performanceNow, three.systemEntropy.random]) call()
three.systemEntropy.bytes(10_000)
one.turns.current = null

for (const remove of removeFirst) remove()
const staysForSecond = process.emit === installed.emit && Date === installed.Date

// The wrap of the first copy knows the bodies of the second.
const strays: string[] = []
const owner: BodyOwner = { describe: 'a step', onUnhandled: (error) => strays.push((error as Error).message) }
await runToEnd(owner, () => void Promise.reject(new Error('stray')), two.runBody)
await new Promise((resolve) => setTimeout(resolve, 1))

for (const remove of removeSecond) remove()
const gone = !Object.hasOwn(process, 'emit') && Date === NativeDate
console.log(
  JSON.stringify({
    separate: one.turns === two.turns && one.installShield !== two.installShield,
    wrappedOnce,
    sharedTurn,
    virtual,
    staysForSecond,
    strays,
    gone,
  }),
)
