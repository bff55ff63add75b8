// Fails when a step or a replay costs clearly more processor time than it should, whatever the machine and
// whatever else it does: time is counted in units of work that is done in between, and of each the best of
// several rounds counts.
//   npm run bench:guard
//   npm run bench:guard -- --slow 2        as if the engine were half as fast: must fail
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { sqlite } from '@pawl/storage-sqlite'
import { costOf } from '../base/clock.ts'
import { show } from '../report/numbers.ts'
import { ceilings } from './ceilings.ts'
import { type Probe, probeMany, probeRaw, probeReplay, probeSequence } from './probes.ts'
import { runReference } from './reference.ts'

const { values: options } = parseArgs({ options: { slow: { type: 'string', default: '1' } } })
const slow = Number(options.slow)
const [warmUp, rounds] = [10, 40]

// Where there is none, the disk's waiting is not counted either, only what the system does for it.
const memory = '/dev/shm'
const folder = mkdtempSync(join(existsSync(memory) ? memory : tmpdir(), 'pawl-guard-'))
const reference: Probe = {
  name: 'reference',
  count: 1_000,
  round: async () => void (await runReference(1_000)),
  close: async () => {},
}
const raw = probeRaw('raw', join(folder, 'raw.db'), 400)
const probes = {
  sequence: await probeSequence('steps one after the other', sqlite(join(folder, 'sequence.db')), 100),
  many: await probeMany('20 runs at once', sqlite(join(folder, 'many.db')), 20, 10),
  replay: probeReplay('replay from memory', 5_000),
}

const best = new Map<Probe, number>()
for (let round = -warmUp; round < rounds; round++) {
  for (const probe of [reference, raw, ...Object.values(probes)]) {
    const repeats = probe === reference || probe === raw ? 1 : slow
    const { cpuMs } = await costOf(async () => {
      for (let i = 0; i < repeats; i++) await probe.round()
    })
    const us = (cpuMs * 1_000) / probe.count
    if (round >= 0) best.set(probe, Math.min(us, best.get(probe) ?? us))
  }
}
for (const probe of [raw, ...Object.values(probes)]) await probe.close()
rmSync(folder, { recursive: true })

const spent = (probe: Probe): number => best.get(probe) ?? Number.NaN
console.log(`raw commit ${show(spent(raw))} µs, reference ${show(spent(reference))} µs of processor time`)
for (const name of Object.keys(ceilings) as (keyof typeof ceilings)[]) {
  const probe = probes[name]
  const [unit, of] = name === 'replay' ? [reference, 'reference'] : [raw, 'raw commits']
  const ratio = spent(probe) / spent(unit)
  const isGood = ratio <= ceilings[name]
  if (!isGood) process.exitCode = 1
  console.log(
    `${isGood ? 'ok    ' : 'FAILED'}  ${probe.name.padEnd(28)}${show(spent(probe)).padStart(8)} µs  ${show(ratio).padStart(6)} × ${of}, at most ${show(ceilings[name])}`,
  )
}
