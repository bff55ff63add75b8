import { readFileSync } from 'node:fs'
import { resolve, sep } from 'node:path'
import { type CheckFilter, checkRuns, type RunCheck, type RunStatus, unusedBranches } from '@pawl/core'
import { refuseServer } from '../config/find.ts'
import { refuseMissing } from '../config/store.ts'
import type { Context } from '../context.ts'
import { usageError } from '../door/problem.ts'
import { type ExitStatus, exit } from '../exit.ts'
import { safe } from '../output/out.ts'
import { type Column, printRows } from '../output/table.ts'
import { readWhole } from './numbers.ts'

export interface CheckFlags {
  readonly status?: string
  readonly procedure?: string
  readonly tag?: string
  readonly limit?: string
  readonly export?: readonly string[]
}

/** Replays stored runs with the code that was found, and names the runs that would get stuck. Nothing is executed or written. */
export async function check(
  context: Context,
  run: string | undefined,
  flags: CheckFlags,
): Promise<ExitStatus> {
  const { out, surroundings } = context
  const located = await context.located()
  refuseServer('check', located)
  if (flags.export === undefined) refuseMissing(located.store, surroundings.cwd)
  const options = await context.engineOptions()
  const checks = await checkRuns(options, readFilter(run, flags, surroundings.cwd))
  const known = new Set(options.procedures.map(({ name }) => name))
  const broken = checks.filter((one) => isBroken(one, known))
  if (out.json) out.print(JSON.stringify(checks))
  else {
    const shown = checks.filter(({ verdict }) => verdict !== 'same')
    if (shown.length > 0) printRows(out, shown, columnsFrom(surroundings.cwd), '')
    out.note(`  ${summarize(checks)}`)
    for (const line of isWhole(run, flags) ? describeUnused(checks) : []) out.note(line)
  }
  return broken.length === 0 ? exit.done : exit.stuck
}

/** Names the runs that no longer match the code, for people who are changing it. */
export function describeBroken(checks: readonly RunCheck[], cwd: string): readonly string[] {
  const broken = checks.filter(({ verdict }) => verdict === 'diverges' || verdict === 'broken')
  if (broken.length === 0) return []
  const named = broken.slice(0, maxNamed).map((one) => {
    const { why, at } = explain(one, cwd)
    return `    ${one.run}: ${why}${at === '' ? '' : ` (${at})`}`
  })
  const more = broken.length > maxNamed ? [`    and ${broken.length - maxNamed} more: run pawl check`] : []
  const title = broken.length === 1 ? '1 run no longer matches:' : `${broken.length} runs no longer match:`
  return [`  ${title}`, ...named, ...more]
}

const maxNamed = 10

/** Whether all live runs were checked, or all of a procedure. */
function isWhole(run: string | undefined, { status, tag, limit, export: files }: CheckFlags): boolean {
  return [run, status, tag, limit, files].every((flag) => flag === undefined)
}

/** Names the branches of `ctx.version` that can be removed from the code. */
function describeUnused(checks: readonly RunCheck[]): readonly string[] {
  return unusedBranches(checks).map(
    ({ procedure, version, change, branch }) =>
      `  Branch ${branch} of ${safe(change)} in ${safe(procedure)} v${version} can be removed: no live run is on it`,
  )
}

/** A run of a procedure that is not here may belong to another service. */
function isBroken({ verdict, procedure }: RunCheck, known: ReadonlySet<string>): boolean {
  return verdict === 'no-code' ? known.has(procedure) : verdict === 'diverges' || verdict === 'broken'
}

function readFilter(
  run: string | undefined,
  { status, procedure, tag, limit, export: files }: CheckFlags,
  cwd: string,
): CheckFilter {
  const isFiltered = [status, procedure, tag, limit].some((flag) => flag !== undefined)
  if (files !== undefined) {
    if (run !== undefined || isFiltered) throw usageError('Pass --export, or runs of the store, not both.')
    return { exports: files.map((file) => readExport(file, cwd)) }
  }
  if (run !== undefined && isFiltered) throw usageError('Pass the id of a run or a filter, not both.')
  if (run !== undefined) return { run }
  return {
    procedure,
    tag,
    // The engine refuses words that are not statuses.
    status: status?.split(',') as readonly RunStatus[] | undefined,
    limit: limit === undefined ? undefined : readWhole('--limit', limit),
  }
}

function readExport(file: string, cwd: string): Uint8Array {
  try {
    return readFileSync(resolve(cwd, file))
  } catch (error) {
    throw usageError(`${file} cannot be read: ${(error as Error).message}.`)
  }
}

function columnsFrom(cwd: string): readonly Column<RunCheck>[] {
  return [
    { title: 'VERDICT', of: ({ verdict }) => verdict },
    { title: 'RUN', of: ({ run }) => run },
    { title: 'PROCEDURE', of: ({ procedure, version }) => `${procedure} v${version}` },
    { title: 'CODE', of: (one) => explain(one, cwd).at || '-' },
    { title: 'DETAIL', of: (one) => explain(one, cwd).why },
  ]
}

function explain(check: RunCheck, cwd: string): { readonly why: string; readonly at: string } {
  switch (check.verdict) {
    case 'same':
      return { why: '', at: '' }
    case 'text-only':
      return { why: 'an open ask is shown as it was asked', at: '' }
    case 'no-code':
      return { why: 'no such procedure or version is here', at: '' }
    case 'broken':
      return { why: check.message, at: shorten(check.at, cwd) }
    case 'diverges': {
      const { position, recorded, asked } = check
      return { why: `${recorded} at position ${position} became ${asked}`, at: shorten(check.at, cwd) }
    }
  }
}

function shorten(at: string, cwd: string): string {
  return safe(at.startsWith(cwd + sep) ? at.slice(cwd.length + 1) : at)
}

function summarize(checks: readonly RunCheck[]): string {
  const counts = new Map<string, number>()
  for (const { verdict } of checks) counts.set(verdict, (counts.get(verdict) ?? 0) + 1)
  const total = checks.length === 1 ? '1 run' : `${checks.length} runs`
  const parts = [...counts].map(([verdict, count]) => `${count} ${verdict}`)
  return `${total} checked${parts.length === 0 ? '' : `: ${parts.join(', ')}`}`
}
