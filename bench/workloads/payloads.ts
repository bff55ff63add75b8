import { check } from '../base/check.ts'
import { type Cost, costOf, timeOf } from '../base/clock.ts'
import { warmUp } from '../base/pace.ts'
import { openPlace } from '../places/open-place.ts'
import { carrying, textOf } from '../procedures.ts'
import { type Figures, type Job, startEngine, Tally } from './workload.ts'

/** Sequential steps that return so many bytes of text, beside raw commits of one row of that size. */
export async function carryPayloads({ address, rounds, size: bytes = 1_024 }: Job): Promise<Figures> {
  const steps = Math.max(10, Math.min(1_000, Math.floor(2 ** 22 / bytes)))
  const place = openPlace(address)
  const engine = await startEngine(place)
  const raw = await place.openRaw()
  const payload = Buffer.from(textOf(bytes))
  const tally = new Tally()
  const once = async (): Promise<Cost> => {
    let id = ''
    const cost = await costOf(async () => {
      const run = await engine.run(carrying, { steps, bytes })
      check('the sum of all lengths', await run.result(), steps * bytes)
      id = run.id
    })
    const { execution_log: entries } = await engine.log(id)
    check('recorded steps', entries.filter(({ result }) => result === textOf(bytes)).length, steps)
    return cost
  }
  await raw.write(steps, payload)
  await warmUp(once)
  for (let round = 0; round < rounds; round++) {
    const before = await place.diskBytes()
    const rawMs = await timeOf(() => raw.write(steps, payload))
    const { ms, cpuMs } = await once()
    tally.add({
      stepsPerSecond: (steps / ms) * 1_000,
      mbPerSecond: ((steps * bytes) / 2 ** 20 / ms) * 1_000,
      ratio: rawMs / ms,
      cpuUsPerStep: (cpuMs / steps) * 1_000,
      diskPerByte: ((await place.diskBytes()) - before) / (steps * bytes),
    })
  }
  await raw.close()
  await engine.stop()
  return tally.figures
}
