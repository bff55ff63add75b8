import { confirmCancel } from '../answers/prompt.ts'
import { readJson } from '../answers/read-answer.ts'
import { openTerminal } from '../answers/terminal.ts'
import type { Context } from '../context.ts'
import { type RunJson, segmentOf } from '../door/door.ts'
import { usageError } from '../door/problem.ts'
import { type ExitStatus, exit } from '../exit.ts'
import { safe } from '../output/out.ts'

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

export interface CancelFlags {
  readonly reason?: string
  readonly yes?: boolean
}

export async function cancel(
  context: Context,
  ids: readonly string[],
  { reason, yes = false }: CancelFlags,
): Promise<ExitStatus> {
  const { out, signal } = context
  if (!yes && !out.canAsk) throw usageError('Pass --yes to cancel without a question.')
  if (!yes && !(await confirmCancel(openTerminal(signal), ids))) throw usageError('Nothing was cancelled.')
  const door = await context.door()
  const body = reason === undefined ? {} : { reason }
  const cancelled: RunJson[] = []
  for (const id of ids) cancelled.push(await door.post<RunJson>(`/runs/${segmentOf(id)}/cancel`, body))
  if (out.json) out.print(JSON.stringify(cancelled))
  else
    for (const { id, status } of cancelled) out.note(`  The cancel of run ${safe(id)} is stored: ${status}`)
  return exit.done
}

export async function retry(context: Context, ids: readonly string[]): Promise<ExitStatus> {
  const { out } = context
  const door = await context.door()
  const retried: RunJson[] = []
  for (const id of ids) retried.push(await door.post<RunJson>(`/runs/${segmentOf(id)}/retry`, {}))
  if (out.json) out.print(JSON.stringify(retried))
  else for (const { id, status } of retried) out.note(`  Run ${safe(id)} is due: ${status}`)
  return exit.done
}
