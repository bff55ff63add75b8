import { PawlError, type Procedure } from '@pawl/core'
import {
  decode,
  definitionOf,
  encode,
  installGuard,
  installShield,
  issuesOf,
  type ProcedureDefinition,
  refuse,
  validate,
} from '@pawl/core/internal'
import type { Exploration } from './exploration.ts'
import { type ExploreOptions, readExploreOptions } from './options.ts'
import { explorePaths } from './paths.ts'

/**
 * Runs a procedure once for every combination of outcomes (answers, silences, decisions, orders of arrival) and reports
 * the paths that break a rule. Bodies of steps and agents do not run: a step without a double returns undefined. Doubles
 * may be called several times. Outcomes that the procedure cannot tell apart are tried once.
 * @throws PawlError 'input-invalid', 'option-invalid', 'foreign-await', 'nondeterminism'
 * @example
 * const { violations } = await explore(refund, { orderId: 'A-1', amount: 45 }, {
 *   steps: { 'load order': { card: 'visa' } },
 *   never: [{ step: 'refund', unless: 'approved' }],
 * })
 * expect(violations).toEqual([])
 */
export async function explore<In, Out, T>(
  procedure: Procedure<In, Out, T>,
  input: NoInfer<In>,
  options: ExploreOptions = {},
): Promise<Exploration> {
  const definition =
    definitionOf(procedure) ??
    refuse('procedure of explore', procedure, 'It must be created by procedure(): explore runs its code.')
  const settings = readExploreOptions(definition, options)
  const given = await readInput(definition, input)
  const undo = [installShield(), installGuard('virtual')]
  try {
    const explored = await explorePaths(definition, given, settings, true)
    return explored ?? ((await explorePaths(definition, given, settings, false)) as Exploration)
  } finally {
    for (const one of undo) one()
  }
}

async function readInput(definition: ProcedureDefinition, input: unknown): Promise<() => unknown> {
  const checked =
    definition.input === undefined
      ? { ok: true as const, value: input }
      : await validate(definition.input, input)
  if (!checked.ok) throw new PawlError('input-invalid', issuesOf(checked))
  const bytes = encode(checked.value, 'input')
  return () => decode(bytes)
}
