import type { Problem } from '@pawl/server'
import { readJson } from '../answers/read-answer.ts'
import { openTerminal } from '../answers/terminal.ts'
import type { Context } from '../context.ts'
import { type Door, type PreviewJson, type RunJson, segmentOf } from '../door/door.ts'
import { CommandError, usageError } from '../door/problem.ts'
import { type ExitStatus, exit } from '../exit.ts'
import { safe } from '../output/out.ts'
import { printPreview } from './fork.ts'

// Commands that change a run.

export interface SignalFlags {
  readonly payload?: string
  readonly key?: string
}

export async function signal(
  context: Context,
  id: string,
  name: string,
  { payload, key }: SignalFlags,
): Promise<ExitStatus> {
  const { out, surroundings } = context
  const door = await context.door()
  const body = payload === undefined ? {} : { payload: readJson('--payload', payload, surroundings.cwd) }
  await door.post(`/runs/${segmentOf(id)}/signals/${encodeURIComponent(name)}`, body, { idempotencyKey: key })
  if (out.json) out.print(JSON.stringify({ stored: true }))
  else out.note(`  Signal ${safe(name)} is stored for run ${safe(id)}`)
  return exit.done
}

/** Runs that are named, or all that a filter finds. */
export interface ChosenFlags {
  readonly status?: string
  readonly procedure?: string
  readonly tag?: string
  readonly yes?: boolean
}

export interface CancelFlags extends ChosenFlags {
  readonly reason?: string
}

export async function cancel(
  context: Context,
  ids: readonly string[],
  flags: CancelFlags,
): Promise<ExitStatus> {
  const door = await context.door()
  const chosen = await chooseRuns(door, ids, flags)
  if (flags.yes !== true) await confirm(context, 'Cancel', chosen)
  const body = flags.reason === undefined ? {} : { reason: flags.reason }
  return changeEach(context, chosen, async (id) => {
    const run = await door.post<RunJson>(`/runs/${segmentOf(id)}/cancel`, body)
    return { run, says: `The cancel of run ${id} is stored: ${run.status}` }
  })
}

export interface RetryFlags extends ChosenFlags {
  readonly preview?: boolean
}

export async function retry(
  context: Context,
  ids: readonly string[],
  flags: RetryFlags,
): Promise<ExitStatus> {
  const door = await context.door()
  if (flags.preview === true) return previewRetry(context, door, ids)
  const chosen = await chooseRuns(door, ids, flags)
  // Named runs need no confirmation: a retry can be repeated safely.
  if (ids.length === 0 && flags.yes !== true) await confirm(context, 'Retry', chosen)
  return changeEach(context, chosen, async (id) => {
    await refuseLive(door, id)
    const run = await door.post<RunJson>(`/runs/${segmentOf(id)}/retry`, {})
    return { run, says: `Run ${id} is due: ${run.status}` }
  })
}

/** A retry of a run that is neither stuck nor quarantined does nothing while it is live. */
async function refuseLive(door: Door, id: string): Promise<void> {
  const { status, endedAt } = await door.get<RunJson>(`/runs/${segmentOf(id)}`)
  if (endedAt !== undefined || status === 'stuck' || status === 'quarantined') return
  throw new CommandError({
    ...{ type: 'about:blank', title: 'run-live', status: 409, code: 'run-live' },
    detail: `Run ${id} is ${status}: there is nothing to retry, and it resumes by itself. Nothing was changed.`,
  })
}

async function previewRetry({ out }: Context, door: Door, ids: readonly string[]): Promise<ExitStatus> {
  const [id] = ids
  if (id === undefined || ids.length > 1) throw usageError('`--preview` needs the id of one run.')
  return printPreview(out, await door.post<PreviewJson>(`/runs/${segmentOf(id)}/retry/preview`, {}))
}

export async function deleteRuns(
  context: Context,
  ids: readonly string[],
  flags: ChosenFlags,
): Promise<ExitStatus> {
  const door = await context.door()
  const chosen = await chooseRuns(door, ids, flags)
  if (flags.yes !== true) await confirm(context, 'Delete', chosen)
  return changeEach(context, chosen, async (id) => {
    const run = await door.get<RunJson>(`/runs/${segmentOf(id)}`)
    await door.delete(`/runs/${segmentOf(id)}`)
    return { run, says: `Run ${id} is deleted` }
  })
}

async function confirm({ out, signal }: Context, verb: string, ids: readonly string[]): Promise<void> {
  const what = ids.length === 1 ? `run ${ids[0]}` : `${ids.length} runs`
  if (!out.canAsk) throw usageError(`Pass --yes to ${verb.toLowerCase()} ${what} without a question.`)
  if (!(await openTerminal(signal).agree(`${verb} ${what}?`))) throw usageError('Nothing was changed.')
}

async function chooseRuns(
  door: Door,
  ids: readonly string[],
  { status, procedure, tag }: ChosenFlags,
): Promise<readonly string[]> {
  const isFiltered = status !== undefined || procedure !== undefined || tag !== undefined
  if (ids.length > 0 && isFiltered) throw usageError('Pass ids of runs or a filter, not both.')
  if (ids.length > 0) return ids
  if (!isFiltered) throw usageError('Pass ids of runs, or a filter: `--status`, `--procedure` or `--tag`.')
  const found: string[] = []
  for (let cursor: string | undefined; ; ) {
    const page = await door.get<{ readonly items: readonly RunJson[]; readonly cursor?: string }>('/runs', {
      ...{ status, procedure, tag, cursor },
      limit: '500',
    })
    found.push(...page.items.map(({ id }) => id))
    if (page.cursor === undefined) break
    cursor = page.cursor
  }
  if (found.length === 0)
    throw new CommandError({
      ...{ type: 'about:blank', title: 'not-found', status: 404, code: 'not-found' },
      detail: 'No run matches the filter.',
    })
  return found
}

interface Changed {
  readonly run: RunJson
  readonly says: string
}

/** Changes each run. A refusal does not stop the others; the status is that of the first refusal. */
async function changeEach(
  { out }: Context,
  ids: readonly string[],
  change: (id: string) => Promise<Changed>,
): Promise<ExitStatus> {
  const [only] = ids
  if (ids.length === 1 && only !== undefined) {
    const { run, says } = await change(only)
    if (out.json) out.print(JSON.stringify([run]))
    else out.note(`  ${safe(says)}`)
    return exit.done
  }
  const outcomes: (RunJson | { readonly id: string; readonly problem: Problem })[] = []
  let status: ExitStatus = exit.done
  for (const id of ids) {
    try {
      const { run, says } = await change(id)
      outcomes.push(run)
      if (!out.json) out.note(`  ${safe(says)}`)
    } catch (error) {
      if (!(error instanceof CommandError)) throw error
      if (status === exit.done) status = error.status
      outcomes.push({ id, problem: error.problem })
      if (!out.json) out.note(`  ${out.style('red', `Run ${safe(id)}:`)} ${safe(error.message)}`)
    }
  }
  if (out.json) out.print(JSON.stringify(outcomes))
  return status
}
