import { resolve } from 'node:path'
import type { DefaultRule, Exploration, ExploreOptions, Rule, Violation } from '@pawl/testing'
import { readJson } from '../answers/read-answer.ts'
import { loadModule } from '../config/load.ts'
import { type AnyProcedure, loadProcedures } from '../config/procedures.ts'
import type { Context } from '../context.ts'
import { CommandError, usageError } from '../door/problem.ts'
import { type ExitStatus, exit } from '../exit.ts'
import { type Out, safe } from '../output/out.ts'
import { readWhole } from './numbers.ts'

export interface ExploreFlags {
  readonly input?: string
  readonly with?: string
  readonly never?: readonly string[]
  readonly ignore?: readonly string[]
  readonly cancel?: boolean
  readonly maxPaths?: string
}

/** Maximum number of violations that are shown in full. */
const maxShown = 10

/** Tries every outcome of a procedure, without a store, and reports the paths that break a rule. */
export async function explore(context: Context, name: string, flags: ExploreFlags): Promise<ExitStatus> {
  const { out, surroundings } = context
  const { procedures } = await context.located()
  const procedure = choose(await loadProcedures(procedures.value), name)
  const input = flags.input === undefined ? undefined : readJson('--input', flags.input, surroundings.cwd)
  const given = flags.with === undefined ? {} : await loadOptions(resolve(surroundings.cwd, flags.with))
  const never = (flags.never ?? []).map((step): Rule => ({ step, unless: 'approved' }))
  // Loaded only here: no other command needs it.
  const testing = await import('@pawl/testing')
  const report = await testing.explore(procedure, input, {
    ...given,
    never: [...(given.never ?? []), ...never],
    // An unknown name is refused there.
    ignore: [...(given.ignore ?? []), ...((flags.ignore ?? []) as readonly DefaultRule[])],
    ...(flags.cancel === true ? { cancel: true } : {}),
    ...(flags.maxPaths === undefined ? {} : { maxPaths: readWhole('--max-paths', flags.maxPaths) }),
  })
  if (out.json) out.print(JSON.stringify(toJson(report)))
  else print(out, name, report)
  return report.violations.length === 0 ? exit.done : exit.runFailed
}

/** The newest version of a procedure. */
function choose(procedures: readonly AnyProcedure[], name: string): AnyProcedure {
  const [newest] = procedures.filter((one) => one.name === name).sort((a, b) => b.version - a.version)
  if (newest !== undefined) return newest
  throw new CommandError({
    ...{ type: 'about:blank', title: 'procedure-unknown', status: 404, code: 'procedure-unknown' },
    detail: `There is no procedure ${name}. There are: ${[...new Set(procedures.map((one) => one.name))].join(', ')}.`,
  })
}

async function loadOptions(file: string): Promise<ExploreOptions> {
  const { default: options } = (await loadModule(file)) as { readonly default?: unknown }
  if (typeof options === 'object' && options !== null) return options
  throw usageError(`${file} must export the options of explore as its default, such as { steps, never }.`)
}

function print(out: Out, name: string, report: Exploration): void {
  const { paths, leftOut, cut, bounded, truncated, ends, violations, unexplored } = report
  out.print(`Explored ${safe(name)}: ${count(paths, 'path')}, ${count(leftOut, 'outcome')} left out.`)
  if (truncated) out.print('Not all paths were explored: --max-paths allows more.')
  if (cut > 0)
    out.print(
      `${count(cut, 'path')} cut: a question was asked a fourth time, or there were too many operations.`,
    )
  if (bounded > 0)
    out.print(
      `On ${count(bounded, 'path')} more than three operations waited at once: not every order was tried.`,
    )
  if (unexplored.length > 0) out.print(`Not explored: ${unexplored.map((part) => parts[part]).join(', ')}.`)
  const sorted = Object.entries(ends).sort(([, a], [, b]) => b - a)
  const width = String(sorted[0]?.[1] ?? 0).length
  for (const [end, times] of sorted) out.print(`  ${String(times).padStart(width)}  ${safe(end)}`)
  if (violations.length === 0) return
  const found = groupViolations(violations)
  out.print(out.style('red', `${count(violations.length, 'violation')}:`))
  for (const one of found.slice(0, maxShown)) {
    out.print(`  ${describe(one)}`)
    for (const outcome of one.outcomes) out.print(`    ${safe(outcome)}`)
  }
  if (found.length > maxShown) out.print(`  and ${found.length - maxShown} more: --json shows them all.`)
}

/** One line; with the name of a default rule, which `--ignore` takes. */
function describe({ step, act = 'step', rule, why }: Violation): string {
  const what = step === undefined ? safe(why) : `${act} "${safe(step)}": ${safe(why)}`
  return typeof rule === 'string' ? `${what} (${rule})` : what
}

/** The names of unexplored parts in the output. */
const parts: { readonly [Part in Exploration['unexplored'][number]]: string } = {
  random: 'other random values',
  time: 'other times',
  by: 'other people who answer',
  comment: 'comments',
  version: 'older versions',
  updates: 'updates',
  generations: 'what comes after continueAs',
  children: 'what children do',
  undos: 'undos',
}

/** Returns the path with the fewest outcomes for each step and reason. */
function groupViolations(violations: readonly Violation[]): readonly Violation[] {
  const first = new Map<string, Violation>()
  for (const one of violations) {
    const key = JSON.stringify([one.act, one.step, one.why, describeRule(one.rule)])
    if (!first.has(key)) first.set(key, one)
  }
  return [...first.values()]
}

function toJson(report: Exploration): object {
  return { ...report, violations: report.violations.map((one) => ({ ...one, rule: describeRule(one.rule) })) }
}

function describeRule(rule: Violation['rule']): object | string {
  if (typeof rule === 'string') return rule
  const { step, unless } = rule
  return { step: String(step), unless: unless === 'approved' ? unless : { ask: String(unless.ask) } }
}

function count(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? '' : 's'}`
}
