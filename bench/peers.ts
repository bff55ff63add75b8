import { type ChildProcess, fork, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type Places, postgresPlaces } from './places/places.ts'
import { show } from './report/numbers.ts'

export interface PeerMeasured {
  readonly peer: string
  readonly workload: string
  readonly figures: PeerFigures
  /** What its settings promise for a loss of power. */
  readonly durability: string
}

interface PeerFigures {
  readonly stepsPerSecond?: number
  readonly p50Ms?: number
  readonly p99Ms?: number
  /** Of the steps that had been reported to the procedure at a SIGKILL, those that did not run again. */
  readonly kept?: string
}

/** Those that have a program in bench/peers. */
const knownPeers: readonly string[] = ['dbos', 'openworkflow', 'langgraph']
const folder = fileURLToPath(new URL('../../peers/', import.meta.url))
const mostMs = 300_000

/** Others at the same work, on a PostgreSQL as durable as Pawl's. Installs them first. */
export async function measurePeers(peers: readonly string[]): Promise<readonly PeerMeasured[]> {
  for (const peer of peers)
    if (!knownPeers.includes(peer))
      throw new Error(`no peer is called "${peer}"; there are ${knownPeers.join(', ')}`)
  installPeers()
  const places = await postgresPlaces()
  const measured: PeerMeasured[] = []
  try {
    for (const peer of peers)
      for (const workload of ['W1', 'W2', 'W4', 'W5', 'kill']) {
        const one = await measurePeer(peer, workload, places).catch((error: unknown) =>
          console.error(`${peer} ${workload}: ${String(error)}`),
        )
        if (one === undefined) continue
        tellPeer(one)
        measured.push(one)
      }
  } finally {
    await places.remove()
  }
  return measured
}

/** They are heavy, and only this needs them. Their install scripts are not run. */
function installPeers(): void {
  if (existsSync(`${folder}node_modules`)) return
  console.log('\ninstalling bench/peers')
  const { status } = spawnSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: folder,
    stdio: 'inherit',
  })
  if (status !== 0) throw new Error('bench/peers could not be installed')
}

async function measurePeer(peer: string, workload: string, places: Places): Promise<PeerMeasured> {
  const address = await places.make()
  const url = 'url' in address ? address.url : address.file
  if (workload !== 'kill') return { peer, workload, ...(await finish(startPeer(peer, workload, url))) }

  const killAt = 100
  await killAtStep(startPeer(peer, 'kill', url), killAt)
  const survivor = startPeer(peer, 'kill: go on', url)
  const first = await firstStep(survivor)
  survivor.kill('SIGKILL')
  const kept = typeof first === 'string' ? first : `${Math.min(first, killAt)} of ${killAt}`
  return { peer, workload, figures: { kept }, durability: '' }
}

type Told = { readonly step: number } | Omit<PeerMeasured, 'peer' | 'workload'>

function startPeer(peer: string, workload: string, url: string): ChildProcess {
  return fork(`${folder}run.mjs`, [peer, workload, url], {
    execArgv: ['--no-deprecation'],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    timeout: mostMs,
    killSignal: 'SIGKILL',
  })
}

async function finish(child: ChildProcess): Promise<Omit<PeerMeasured, 'peer' | 'workload'>> {
  let told: Told | undefined
  child.on('message', (message) => {
    told = message as Told
  })
  await once(child, 'exit')
  if (told === undefined || 'step' in told) throw new Error('it ended without figures')
  return told
}

/** A step begins when all before it have been reported to the procedure. */
async function killAtStep(child: ChildProcess, step: number): Promise<void> {
  child.on('message', (message: Told) => {
    if ('step' in message && message.step >= step) child.kill('SIGKILL')
  })
  await once(child, 'exit')
}

/** Where it goes on, or what became of it. */
async function firstStep(child: ChildProcess): Promise<number | string> {
  const message = once(child, 'message').then(([told]) => told as Told)
  const ended = once(child, 'exit').then(([code]) => code as number | null)
  const told = await Promise.race([message, ended])
  if (told === null || typeof told === 'number')
    return 'not tried: the new process refused to go on with the run'
  return 'step' in told ? told.step : 'nobody went on within two minutes'
}

function tellPeer({ peer, workload, figures }: PeerMeasured): void {
  const { stepsPerSecond, p50Ms, p99Ms, kept } = figures
  const parts = [
    stepsPerSecond === undefined ? '' : `${show(stepsPerSecond)} steps/s`,
    p50Ms === undefined ? '' : `half within ${show(p50Ms)} ms`,
    p99Ms === undefined ? '' : `99 of 100 within ${show(p99Ms)} ms`,
    kept === undefined ? '' : `kept after SIGKILL: ${kept}`,
  ]
  console.log(`${peer.padEnd(14)}${workload.padEnd(6)}${parts.filter((part) => part !== '').join(', ')}`)
}
