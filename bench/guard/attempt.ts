// One attempt of the guard, in a process of its own: sends the ratios. Argument: how often each round is done.
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqlite } from '@pawl/storage-sqlite'
import { costOf } from '../base/clock.ts'
import type { Watched } from './ceilings.ts'
import { type Probe, probeMany, probeRaw, probeReplay, probeSequence } from './probes.ts'
import { runReference } from './reference.ts'

const [warmUp, rounds] = [10, 40]
const slow = Number(process.argv[2] ?? 1)

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
const ratios: { readonly [name in Watched]: number } = {
  sequence: spent(probes.sequence) / spent(raw),
  many: spent(probes.many) / spent(raw),
  replay: spent(probes.replay) / spent(reference),
}
process.send?.(ratios, () => process.disconnect())
