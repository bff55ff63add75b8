import type { Context } from '../context.ts'
import { type AskJson, type LogEntryJson, type NoticeJson, type RunJson, segmentOf } from '../door/door.ts'
import { type ExitStatus, exit } from '../exit.ts'
import { showAsk } from '../output/ask.ts'
import { askColumns, logColumns, noticeColumns, runColumns, showMore, showRun } from '../output/show.ts'
import { printRows } from '../output/table.ts'
import { isNotFound, readAsk } from './answer.ts'
import { followInbox, followLog, followRun } from './follow.ts'
import { showTree } from './tree.ts'

// Commands that only read.

export interface InboxFlags {
  readonly mine?: boolean
  readonly to?: string
  readonly run?: string
  readonly overdue?: boolean
  readonly limit: string
  readonly follow?: boolean
}

export async function inbox(context: Context, flags: InboxFlags): Promise<ExitStatus> {
  const { mine, to, run, overdue, limit } = flags
  const door = await context.door()
  if (flags.follow === true) return followInbox(context, door, flags)
  const query = { to, run, limit, mine: flagOf(mine), overdue: flagOf(overdue) }
  const { items } = await door.get<{ readonly items: readonly AskJson[] }>('/asks', query)
  printRows(context.out, items, askColumns, 'No open asks.')
  return exit.done
}

export interface ListFlags {
  readonly status?: string
  readonly procedure?: string
  readonly tag?: string
  readonly rollback?: string
  readonly limit: string
}

export async function list(context: Context, flags: ListFlags): Promise<ExitStatus> {
  const door = await context.door()
  const { items } = await door.get<{ readonly items: readonly RunJson[] }>('/runs', { ...flags })
  printRows(context.out, items, runColumns, 'No runs.')
  return exit.done
}

export interface NoticesFlags {
  readonly mine?: boolean
  readonly unread?: boolean
  readonly run?: string
  readonly read?: boolean
  readonly limit: string
}

export async function notices(context: Context, flags: NoticesFlags): Promise<ExitStatus> {
  const { mine, unread, run, read, limit } = flags
  const door = await context.door()
  const query = { run, limit, mine: flagOf(mine), unread: flagOf(unread) }
  const { items } = await door.get<{ readonly items: readonly NoticeJson[] }>('/notices', query)
  printRows(context.out, items, noticeColumns, 'No notices.', showMore)
  for (let from = 0; read === true && from < items.length; from += maxMarked)
    await door.post('/notices/read', { notices: items.slice(from, from + maxMarked).map(({ id }) => id) })
  return exit.done
}

/** Maximum number of notices that one request marks. */
const maxMarked = 200

export interface ShowFlags {
  readonly follow?: boolean
  readonly tree?: boolean
}

export async function show(context: Context, id: string, { follow, tree }: ShowFlags): Promise<ExitStatus> {
  const door = await context.door()
  if (follow === true) return followRun(context, door, id)
  if (tree === true) return showTree(context, door, id)
  try {
    showRun(context.out, await door.get<RunJson>(`/runs/${segmentOf(id)}`, { values: 'true', facts: 'true' }))
  } catch (error) {
    const ask = isNotFound(error) ? await readAsk(door, id).catch(() => undefined) : undefined
    if (ask === undefined) throw error
    showOneAsk(context, ask)
  }
  return exit.done
}

function showOneAsk({ out }: Context, ask: AskJson): void {
  if (out.json) out.print(JSON.stringify(ask))
  else showAsk(out, ask, out.print)
}

interface LogPage {
  readonly items: readonly LogEntryJson[]
  readonly before?: number
}

export interface LogFlags {
  readonly failed?: boolean
  readonly limit: string
  readonly follow?: boolean
}

export async function log(context: Context, id: string, flags: LogFlags): Promise<ExitStatus> {
  const { failed, limit } = flags
  const door = await context.door()
  if (flags.follow === true) return followLog(context, door, id, failed === true)
  const path = `/runs/${segmentOf(id)}/log`
  const shown: LogEntryJson[] = []
  for (let before: string | undefined; ; ) {
    const page = await door.get<LogPage>(path, { limit: failed === true ? '500' : limit, before })
    shown.push(...page.items.filter(({ status }) => failed !== true || status === 'failed'))
    if (failed !== true || page.before === undefined || shown.length >= Number(limit)) break
    before = String(page.before)
  }
  const none = failed === true ? 'The log has no failed entries.' : 'The log has no entries.'
  printRows(context.out, shown.slice(0, Number(limit)), logColumns, none)
  return exit.done
}

/** A flag as a parameter of a query. */
function flagOf(isSet: boolean | undefined): 'true' | undefined {
  return isSet === true ? 'true' : undefined
}
