import type { Claimant, Claimed, Claims, ProcedureVersions, RunKey } from '@pawl/core/storage'
import { newRun, type Standing } from './builders.ts'
import type { Stage } from './stage.ts'

const procedures: readonly ProcedureVersions[] = [{ name: 'refund', versions: [1] }]

export const why: Uint8Array = new Uint8Array([1])

/** The keys of runs, in the order of their ids. */
export type Keys<Ids extends readonly string[]> = { readonly [Index in keyof Ids]: RunKey }

/** Creates a run for each id. */
export async function create<const Ids extends readonly string[]>(
  stage: Stage,
  ids: Ids,
): Promise<Keys<Ids>> {
  await stage.port.runs.create(ids.map((id) => newRun(id)))
  return runsOf(stage, ids)
}

export async function runsOf<const Ids extends readonly string[]>(
  stage: Stage,
  ids: Ids,
): Promise<Keys<Ids>> {
  const runs = await Promise.all(ids.map(async (id) => (await stage.find(id)).run))
  return runs as { [Index in keyof Ids]: RunKey }
}

/** Registers a worker that is dead at the next sweep. */
export async function doomed(stage: Stage): Promise<Claimant> {
  return { worker: await stage.doomedWorker(), procedures }
}

export function claim(stage: Stage): Promise<Claims> {
  return stage.claimant().then((claimant) => stage.port.claims.claim(claimant, 10))
}

/** Lets a worker claim all due runs and die. Runs in `moving` have committed an event. */
export async function die(stage: Stage, moving: readonly string[] = []): Promise<void> {
  const claimant = await doomed(stage)
  const { runs } = await stage.port.claims.claim(claimant, 5_000)
  for (const claimed of runs)
    if (moving.includes(claimed.id)) await stage.commit(standingOf(claimed, claimant))
  await stage.port.workers.sweep()
}

/** Lets a worker claim these runs and die. */
export async function dieOver(stage: Stage, runs: readonly RunKey[]): Promise<void> {
  await stage.port.claims.take(await doomed(stage), runs)
  await stage.port.workers.sweep()
}

/** Creates runs whose owner died twice. */
export async function makeSuspects<const Ids extends readonly string[]>(
  stage: Stage,
  ids: Ids,
): Promise<Keys<Ids>> {
  const runs = await create(stage, ids)
  for (let deaths = 0; deaths < 2; deaths++) await die(stage)
  return runs
}

/** Releases runs like a graceful stop; `owner` continues. */
export async function releaseAll(stage: Stage, runs: readonly RunKey[], owner?: Claimant): Promise<void> {
  const owners = (await stage.dump()).runs.filter(({ run }) => runs.includes(run)).map(({ worker }) => worker)
  for (const worker of new Set(owners)) if (worker !== null) await stage.port.workers.release(worker)
  if (owner !== undefined) Object.assign(owner, { worker: await stage.worker() })
}

function standingOf({ run, id, epoch, head, mail }: Claimed, { worker }: Claimant): Standing {
  return { run, id, worker, epoch, head, seen: mail }
}

export type Dumped = Readonly<
  Record<string, { tries: number; positives: number; alone: number; tested: boolean }>
>

export async function dump(stage: Stage): Promise<Dumped> {
  const { runs } = await stage.dump()
  return Object.fromEntries(
    runs.map(({ id, tries, positives, alone, tested }) => [id, { tries, positives, alone, tested }]),
  )
}
