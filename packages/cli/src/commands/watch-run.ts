import type { Context } from '../context.ts'
import type { AskJson, Door, RunJson } from '../door/door.ts'
import { segmentOf } from '../door/door.ts'
import { CommandError, interrupted } from '../door/problem.ts'
import { type ExitStatus, exit, exitOfRun } from '../exit.ts'
import { fitLine, safe } from '../output/out.ts'
import { showCancel } from '../output/show.ts'
import { showSuspension } from '../output/suspension.ts'

export interface WatchOptions {
  readonly signal: AbortSignal
  /** In ms. Default: no limit. */
  readonly timeoutMs?: number | undefined
}

/** Longer timers count as a suspension: the command ends, and a worker resumes the run. */
const maxTimerMs = 60_000

/** Waits until a run ends or is suspended. */
export async function watchRun(
  door: Door,
  id: string,
  { signal, timeoutMs }: WatchOptions,
): Promise<RunJson> {
  const until = timeoutMs === undefined ? Number.POSITIVE_INFINITY : Date.now() + timeoutMs
  const path = `/runs/${segmentOf(id)}`
  for (let pauseMs = 20; ; pauseMs = Math.min(pauseMs * 2, 500)) {
    const run = await door.get<RunJson>(path)
    if (await hasSettled(door, run)) return run
    if (signal.aborted)
      throw interrupted(`Interrupted. Run ${id} continues with the next worker.`, 'wait-timed-out')
    if (Date.now() >= until) throw timedOut(id)
    await pause(Math.min(pauseMs, until - Date.now()), signal)
  }
}

/** Prints how a run ended, or where it is suspended, and returns the status to exit with. */
export async function reportRun({ out, engineLog }: Context, door: Door, run: RunJson): Promise<ExitStatus> {
  const status = exitOfRun(run.status)
  const path = `/runs/${segmentOf(run.id)}`
  if (status === exit.done) {
    const { output } = await door.get<{ readonly output: unknown }>(`${path}/result`)
    if (out.json) out.print(JSON.stringify({ run, output }))
    else {
      out.note(`  ${out.style('green', 'Completed')}`)
      out.print(`  ${safe(`${JSON.stringify(output)}`)}`)
    }
    return status
  }
  if (status === exit.waiting) {
    const asks = await listAsks(door, run)
    if (out.json) out.print(JSON.stringify({ run, asks }))
    else if (asks.length > 0) showSuspension(out, asks)
    else
      out.print(
        `  Suspended: waits for ${run.waitingFor.map(({ kind, name }) => safe(`${kind} ${name}`)).join(', ')}`,
      )
    return status
  }
  if (out.json) out.print(JSON.stringify({ run }))
  else {
    const message = run.failure?.message ?? showCancel(run) ?? 'no reason is recorded'
    out.note(`  ${out.style('red', run.status)}: ${fitLine(out, message, run.status.length + 4)}`)
    const place = engineLog.placeOf(run.id)
    if (place !== undefined && !message.includes(place)) out.note(`  at ${safe(place)}`)
  }
  return status
}

/** Whether a run has ended, or waits for what does not come soon. Its children count: a run waits for them as long as they work. */
async function hasSettled(door: Door, run: RunJson): Promise<boolean> {
  const { status, waitingFor } = run
  if (status === 'running') return waitingFor.some(({ kind }) => kind === 'worker')
  if (status !== 'waiting') return true
  const soon = Date.now() + maxTimerMs
  if (
    waitingFor.some(({ kind, until }) => kind === 'timer' && until !== undefined && Date.parse(until) < soon)
  )
    return false
  const children = await listLiveChildren(door, run)
  // An ended child is about to wake the run.
  if (children.length === 0) return !waitingFor.some(({ kind }) => kind === 'child')
  for (const child of children) if (!(await hasSettled(door, child))) return false
  return true
}

/** Returns the children that a run waits for. Stuck ones need an operator, as asks need people. */
async function listLiveChildren(door: Door, { id, waitingFor }: RunJson): Promise<readonly RunJson[]> {
  if (!waitingFor.some(({ kind }) => kind === 'child')) return []
  const query = { parent: id, status: 'running,waiting,stuck,quarantined', limit: '500' }
  return (await door.get<{ readonly items: readonly RunJson[] }>('/runs', query)).items
}

/** Returns the open asks of a run and of the children that it waits for. */
async function listAsks(door: Door, run: RunJson): Promise<readonly AskJson[]> {
  const query = { run: run.id, limit: '500' }
  const { items } = await door.get<{ readonly items: readonly AskJson[] }>('/asks', query)
  // A list has no params, details and artifacts: what a person approves.
  const whole = await Promise.all(items.map(({ id }) => door.get<AskJson>(`/asks/${segmentOf(id)}`)))
  const below: AskJson[] = []
  for (const child of await listLiveChildren(door, run)) below.push(...(await listAsks(door, child)))
  return [...whole, ...below]
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, Math.max(ms, 0))
    function done(): void {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    signal.addEventListener('abort', done)
  })
}

function timedOut(id: string): CommandError {
  const detail = `Run ${id} has neither ended nor been suspended in time. It continues with the next worker.`
  return new CommandError({
    type: 'about:blank',
    title: 'wait-timed-out',
    status: 504,
    detail,
    code: 'wait-timed-out',
  })
}
