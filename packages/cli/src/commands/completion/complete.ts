import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Argument, Command, Option } from 'commander'
import { loadProcedures } from '../../config/procedures.ts'
import { isPostgres } from '../../config/store.ts'
import type { Context } from '../../context.ts'
import type { AskJson, ProcedureJson, RunJson } from '../../door/door.ts'
import { type ExitStatus, exit, runStatuses } from '../../exit.ts'
import { safe } from '../../output/out.ts'
import { filesWord } from './scripts.ts'

/** The option or argument at the cursor. */
interface Place {
  readonly command: Command
  /** The option or the argument; undefined if the command takes no more. */
  readonly of: Option | Argument | undefined
  /** Number of arguments before it. */
  readonly position: number
}

interface Candidate {
  readonly value: string
  readonly note?: string
}

/** The newest runs and the most urgent asks are offered. */
const limit = '100'

/** Statuses of the runs that a command works on. Default: any. */
const statuses: Readonly<Record<string, string>> = {
  signal: 'running,waiting,stuck,quarantined',
  update: 'running,waiting,stuck,quarantined',
  cancel: 'running,waiting,stuck,quarantined',
  retry: 'failed,stuck,quarantined',
  delete: 'completed,failed,cancelled,quarantined',
}

/**
 * Prints the words that may follow a command line up to the cursor, for the scripts of the shells. Prints nothing if a lookup fails: an
 * error would land in the middle of the command line.
 */
export async function complete(
  context: Context,
  program: Command,
  words: readonly string[],
): Promise<ExitStatus> {
  const current = words.at(-1) ?? ''
  const candidates = await find(context, placeOf(program, words.slice(0, -1)), current).catch(() => [])
  for (const { value, note } of candidates)
    if (value === filesWord || (value.startsWith(current) && safe(value) === value))
      context.out.print(note === undefined ? value : `${value}\t${safe(note)}`)
  return exit.done
}

function placeOf(program: Command, before: readonly string[]): Place {
  let command = program
  let pending: Option | undefined
  let position = 0
  for (const word of before) {
    if (pending !== undefined) pending = undefined
    else if (word.startsWith('-')) pending = findOption(command, word)
    else {
      const below = command.commands.find((one) => one.name() === word)
      if (below === undefined) position++
      else command = below
    }
  }
  const last = command.registeredArguments.at(-1)
  return {
    ...{ command, position },
    of: pending ?? command.registeredArguments[position] ?? (last?.variadic ? last : undefined),
  }
}

/** The option of that name if a value follows it. */
function findOption(command: Command, flag: string): Option | undefined {
  const options = [...command.options, ...(command.parent?.options ?? [])]
  return options.find((option) => option.long === flag && (option.required || option.optional))
}

async function find(
  context: Context,
  { command, of, position }: Place,
  current: string,
): Promise<readonly Candidate[]> {
  const isValue = of !== undefined && 'long' in of
  if (current.startsWith('-') && !isValue) return flagsOf(command)
  if (!isValue && command.commands.length > 0) return position === 0 ? commandsOf(command) : []
  if (of === undefined) return []
  if (of.argChoices !== undefined) return of.argChoices.map((value) => ({ value }))
  return valuesOf(context, command, isValue ? (of.flags.match(/[<[](.+?)[\]>]/)?.[1] ?? '') : of.name())
}

/** Completes a value by its placeholder in the help, such as `<run>`. */
async function valuesOf(context: Context, command: Command, kind: string): Promise<readonly Candidate[]> {
  switch (kind) {
    case 'run':
      return listRuns(context, statuses[command.name()])
    case 'ask':
      return listAsks(context)
    case 'checkpoint':
      return command.name() === 'resume' ? listAsks(context) : listRuns(context, undefined)
    case 'procedure':
      return listProcedures(context)
    case 'status':
      return runStatuses.map((value) => ({ value }))
    case 'command':
      return command.parent === null ? [] : commandsOf(command.parent)
    case 'name':
      return command.options.some((option) => option.long === '--procedure') ? listProcedures(context) : []
    case 'file':
    case 'path|url':
    case 'json|@file':
      return [{ value: filesWord }]
    default:
      return []
  }
}

function commandsOf(command: Command): readonly Candidate[] {
  return command
    .createHelp()
    .visibleCommands(command)
    .filter((one) => command.commands.includes(one))
    .map((one) => ({ value: one.name(), note: one.description() }))
}

function flagsOf(command: Command): readonly Candidate[] {
  const help = command.createHelp()
  const above = command.parent === null ? [] : help.visibleOptions(command.parent)
  return [...help.visibleOptions(command), ...above].flatMap(({ long, description }) =>
    long ? [{ value: long, note: description }] : [],
  )
}

async function listRuns(context: Context, status: string | undefined): Promise<readonly Candidate[]> {
  if (!(await hasStore(context))) return []
  const door = await context.door()
  const { items } = await door.get<{ readonly items: readonly RunJson[] }>('/runs', { status, limit })
  return items.map((run) => ({ value: run.id, note: `${run.status}, ${run.procedure}` }))
}

async function listAsks(context: Context): Promise<readonly Candidate[]> {
  if (!(await hasStore(context))) return []
  const door = await context.door()
  const { items } = await door.get<{ readonly items: readonly AskJson[] }>('/asks', { limit })
  return items.map(({ id, message, run }) => ({ value: id, note: `${message} (${run})` }))
}

async function listProcedures(context: Context): Promise<readonly Candidate[]> {
  const { server, procedures } = await context.located()
  if (server === undefined) return unique((await loadProcedures(procedures.value)).map(({ name }) => name))
  const { items } = await (await context.door()).get<{ readonly items: readonly ProcedureJson[] }>(
    '/procedures',
  )
  return unique(items.map(({ name }) => name))
}

function unique(names: readonly string[]): readonly Candidate[] {
  return [...new Set(names)].map((value) => ({ value }))
}

/** Never creates or migrates a store. A migration would lock out older workers. */
async function hasStore({ located, surroundings }: Context): Promise<boolean> {
  const { server, store } = await located()
  if (server !== undefined) return true
  // Does not open a store object from the config: opening it might migrate.
  if (typeof store.value !== 'string') return false
  if (isPostgres(store.value)) {
    const { isSettled } = await import('@pawl/storage-postgres/internal')
    return isSettled(store.value)
  }
  const file = resolve(surroundings.cwd, store.value)
  if (!existsSync(file)) return false
  const { isSettled } = await import('@pawl/storage-sqlite/internal')
  return isSettled(file)
}
