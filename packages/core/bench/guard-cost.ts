// What the guard, the shield, the body storage and the watchdog's cell cost code outside turns.
// usage: node --conditions=@pawl/source --import tsx packages/core/bench/guard-cost.ts
// Each figure is the best of several rounds in fresh processes, bare and with Pawl's part taking turns.
import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { runBody } from '../src/host/body.ts'
import { installGuard } from '../src/host/guard/guard.ts'
import { installShield } from '../src/host/shield.ts'
import { noteTurn } from '../src/host/watchdog/cell.ts'
import { startWatchdog } from '../src/host/watchdog/watchdog.ts'

type Figures = { readonly [what: string]: number }

const [, , mode] = process.argv
const rounds = 5
if (mode === undefined) compare()
else console.log(JSON.stringify(await measure(mode === 'with')))

function compare(): void {
  const arms = { without: [] as Figures[], with: [] as Figures[] }
  for (let round = 0; round < rounds; round++)
    for (const arm of ['without', 'with'] as const) {
      const args = ['--conditions=@pawl/source', '--import', 'tsx', fileURLToPath(import.meta.url), arm]
      const { stdout, stderr, status } = spawnSync(process.execPath, args, { encoding: 'utf8' })
      if (status !== 0) throw new Error(stderr)
      arms[arm].push(JSON.parse(stdout))
    }
  console.log(`Node ${process.version}, ns per call, best of ${rounds} processes each`)
  console.log(`${'call'.padEnd(28)}${'without'.padStart(9)}${'with'.padStart(9)}${'ratio'.padStart(8)}`)
  for (const what of Object.keys(arms.with[0] ?? {})) {
    const [without, withPawl] = [arms.without, arms.with].map((all) =>
      Math.min(...all.map((one) => one[what] ?? 0)),
    )
    if (without === undefined || withPawl === undefined) continue
    const ratio = without === 0 ? '' : (withPawl / without).toFixed(2)
    console.log(
      what.padEnd(28) + without.toFixed(1).padStart(9) + withPawl.toFixed(1).padStart(9) + ratio.padStart(8),
    )
  }
}

async function measure(withPawl: boolean): Promise<Figures> {
  if (withPawl) {
    installGuard('virtual')
    installShield()
  }
  process.on('pawl-bench' as 'exit', () => {})
  const figures: { [what: string]: number } = {
    'Date.now()': time(() => Date.now()),
    'new Date()': time(() => new Date()),
    'new Date(ms)': time(() => new Date(5)),
    'new Date(2026, 1, 3)': time(() => new Date(2026, 1, 3)),
    'performance.now()': time(() => performance.now()),
    'Math.random()': time(() => Math.random()),
    'randomUUID()': time(() => randomUUID(), 100_000),
    'setTimeout and clearTimeout': time(() => clearTimeout(setTimeout(() => {}, 1e6)), 100_000),
    'process.emit()': time(() => process.emit('pawl-bench' as 'exit', 0)),
  }
  if (withPawl) runBody({ describe: 'any', onUnhandled() {}, run() {}, onDone() {}, onFailed() {} })
  figures['await of a value'] = await timeAwait(async (count) => {
    for (let i = 0; i < count; i++) await (i as unknown)
  })
  figures['call of an async function'] = await timeAwait(async (count) => {
    const deep = async (depth: number): Promise<number> => (depth === 0 ? 0 : 1 + (await deep(depth - 1)))
    for (let i = 0; i < count; i += 20) await deep(20)
  })
  if (withPawl) startWatchdog()
  let turn = 0
  const runs = ['order-100001', 'order-100002']
  figures['noteTurn() of the same run'] = withPawl ? time(() => noteTurn('order-100001')) : 0
  figures['noteTurn() of another run'] = withPawl ? time(() => noteTurn(runs[turn++ & 1] as string)) : 0
  return figures
}

function time(call: () => unknown, count = 1_000_000): number {
  let best = Number.POSITIVE_INFINITY
  for (let round = 0; round < 5; round++) {
    const from = process.hrtime.bigint()
    for (let i = 0; i < count; i++) call()
    best = Math.min(best, Number(process.hrtime.bigint() - from) / count)
  }
  return best
}

async function timeAwait(awaitAll: (count: number) => Promise<void>, count = 200_000): Promise<number> {
  let best = Number.POSITIVE_INFINITY
  for (let round = 0; round < 5; round++) {
    const from = process.hrtime.bigint()
    await awaitAll(count)
    best = Math.min(best, Number(process.hrtime.bigint() - from) / count)
  }
  return best
}
