import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { pace } from './base/pace.ts'
import { spreadOf } from './base/statistics.ts'
import type { PeerAbout, PeerMeasured, PeerResult } from './comparison/peer.ts'
import { makeDatabase, type PeerPlace, startRestate } from './comparison/peer-place.ts'
import { PeerProcess, PeerRefusal, type PeerReport, peersFolder } from './comparison/peer-process.ts'
import { type PeerWorkload, peerWorkloads } from './comparison/peer-workloads.ts'
import type { Measured } from './measure.ts'
import { type Places, postgresPlaces } from './places/places.ts'
import { tellPeerResult } from './report/terminal.ts'

/** Those that have a program in bench/peers. */
const knownPeers: readonly string[] = ['dbos', 'openworkflow', 'absurd', 'restate', 'langgraph']
/** As in the workload `kill` of bench/peers. */
const killedAt = 100
const slowStepMs = 5

/** @param list names with commas between them */
export function choosePeers(list: string): readonly string[] {
  const peers = list.split(',').filter((name) => name !== '')
  for (const peer of peers)
    if (!knownPeers.includes(peer))
      throw new Error(`no peer is called "${peer}"; there are ${knownPeers.join(', ')}`)
  return peers
}

/**
 * Others at the same work, one after the other, on a PostgreSQL as durable as Pawl's or on a server of their
 * own. Installs them first. One that fails is left out, and says why.
 * @param isWanted which workloads, by name
 * @param pawl what to compare them with
 */
export async function measurePeers(
  peers: readonly string[],
  isWanted: (workload: string) => boolean,
  pawl: readonly Measured[],
): Promise<readonly PeerMeasured[]> {
  const workloads = peerWorkloads.filter(({ name }) => isWanted(name))
  if (peers.length === 0 || workloads.length === 0) return []
  installPeers()
  const places = await postgresPlaces()
  try {
    const measured: PeerMeasured[] = []
    for (const peer of peers) measured.push(await measurePeer(peer, workloads, places, pawl))
    return measured
  } finally {
    await places.remove()
  }
}

/** Those that failed, or did less than was asked, a sentence for each: the bench fails with them. */
export function tellShortfalls(measured: readonly PeerMeasured[]): readonly string[] {
  return measured.flatMap(({ peer, refusal, results }) => [
    ...(refusal === null ? [] : [`${peer} did not start: ${refusal}`]),
    ...results
      .filter(({ hasFailed }) => hasFailed)
      .map(({ workload, note }) => `${peer} ${workload}: ${note}`),
  ])
}

/** They are heavy, and only this needs them. Their install scripts are not run. */
function installPeers(): void {
  // What npm writes last.
  if (existsSync(`${peersFolder}node_modules/.package-lock.json`)) return
  console.log('\ninstalling bench/peers')
  const { status } = spawnSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: peersFolder,
    stdio: 'inherit',
  })
  if (status !== 0) throw new Error('bench/peers could not be installed')
}

async function measurePeer(
  peer: string,
  workloads: readonly PeerWorkload[],
  places: Places,
  pawl: readonly Measured[],
): Promise<PeerMeasured> {
  const results: PeerResult[] = []
  let about: PeerAbout | null = null
  console.log(`\n# ${peer}`)
  for (const workload of workloads) {
    if (workload.peers?.includes(peer) === false) continue
    const reported: PeerReport[] = []
    try {
      for (let process = 0; process < workload.processes; process++)
        reported.push(await measureOnce(peer, workload, places))
      if (workload.isLatency === true && reported[0]?.about.eager !== undefined)
        reported.push(await measureEager(peer, workload, places))
      if (workload.name === 'kill') await killSlower(peer, workload, places, reported)
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      if (error instanceof PeerRefusal && about === null) {
        console.error(`  it did not start: ${reason}`)
        return { peer, about, results, refusal: reason }
      }
      console.error(`  ${workload.name} failed: ${reason}`)
      results.push({ workload: workload.name, figures: [], note: `failed: ${reason}`, hasFailed: true })
      continue
    }
    about = reported[0]?.about ?? about
    const result = gather(workload, reported)
    tellPeerResult(workload.title, result, pawl)
    results.push(result)
  }
  return { peer, about, results, refusal: null }
}

async function measureEager(peer: string, workload: PeerWorkload, places: Places): Promise<PeerReport> {
  const eager = await measureOnce(peer, workload, places, { isEager: true })
  const { p50Ms = [], bodyP50Ms = [] } = eager.figures
  return { ...eager, figures: { eagerP50Ms: p50Ms, eagerBodyP50Ms: bodyP50Ms } }
}

/** Whoever lost steps that take no time may keep those that take some. */
async function killSlower(
  peer: string,
  kill: PeerWorkload,
  places: Places,
  reported: PeerReport[],
): Promise<void> {
  const [first] = reported
  if (first?.figures['keptSteps']?.[0] === killedAt) return
  const slower = await measureOnce(peer, kill, places, { stepMs: slowStepMs })
  const kept = slower.figures['keptSteps']?.[0]
  reported.push({
    ...slower,
    figures: {},
    note: `of steps that take ${slowStepMs} ms, ${kept} of ${killedAt}`,
  })
}

function gather(workload: PeerWorkload, reported: readonly PeerReport[]): PeerResult {
  const valuesOf = (name: string): readonly number[] => reported.flatMap(({ figures }) => figures[name] ?? [])
  return {
    workload: workload.name,
    figures: workload.figures
      .map((spec) => ({ ...spec, spread: spreadOf(valuesOf(spec.name)) }))
      .filter(({ spread }) => spread.count > 0),
    note: reported.find(({ note }) => note !== undefined)?.note ?? null,
    hasFailed: false,
  }
}

async function measureOnce(
  peer: string,
  { name, rounds }: PeerWorkload,
  places: Places,
  settings: object = {},
): Promise<PeerReport> {
  const place = await (peer === 'restate' ? startRestate() : makeDatabase(places)).catch((error: unknown) => {
    throw new PeerRefusal(String(error))
  })
  const processes: PeerProcess[] = []
  const start = (what: string, more: object = {}): PeerProcess => {
    const one = new PeerProcess(peer, what, { address: place.address, rounds, pace, ...settings, ...more })
    processes.push(one)
    return one
  }
  try {
    if (name === 'W6') return await leaveAndTakeUp(start)
    if (name === 'kill') return await killAndGoOn(start, place)
    return await start(name).result()
  } finally {
    await Promise.all(processes.map((one) => one.kill()))
    await place.remove()
  }
}

type Start = (workload: string, more?: object) => PeerProcess

async function leaveAndTakeUp(start: Start): Promise<PeerReport> {
  const run = { id: 'long' }
  const victim = start('W6 leave', run)
  const left = await victim.left()
  await victim.kill()
  return start('W6 take up', { ...run, ...left }).result()
}

/** A server that belongs to the peer is killed with it. */
async function killAndGoOn(start: Start, place: PeerPlace): Promise<PeerReport> {
  await start('kill').killed()
  await place.revive()
  return start('kill go on').result()
}
