import { definitionOf, installGuard, installShield, type ProcedureDefinition } from '@pawl/core/internal'
import fc from 'fast-check'
import { expect } from 'vitest'
import type { Exploration } from '../../src/explore/exploration.ts'
import { readExploreOptions } from '../../src/explore/options.ts'
import { explorePaths } from '../../src/explore/paths.ts'
import { programOf, randomPrograms } from './random-programs.ts'

const maxPaths = 400

/** Explores random programs with and without leaving outcomes out, and expects the same ends and violations. */
export async function expectSameFindings(
  numRuns: number,
  seed?: number,
): Promise<{ readonly leftOut: number }> {
  const undo = [installShield(), installGuard('virtual')]
  let leftOut = 0
  try {
    const property = fc.asyncProperty(randomPrograms, async (statements) => {
      const definition = definitionOf(programOf(statements)) as ProcedureDefinition
      const settings = readExploreOptions(definition, {
        ...{ maxPaths, maxOps: 40, signals: { paid: [{ n: 1 }] } },
        never: [{ step: 'delete', unless: 'approved' }],
      })
      const all = await explorePaths(definition, () => undefined, settings, false)
      const some = await explorePaths(definition, () => undefined, settings, true)
      if (all === null || some === null || all.truncated) return
      leftOut += some.leftOut
      expect(findingsOf(some)).toEqual(findingsOf(all))
      expect(some.paths).toBeLessThanOrEqual(all.paths)
    })
    await fc.assert(property, { numRuns, ...(seed === undefined ? {} : { seed }) })
  } finally {
    for (const one of undo) one()
  }
  return { leftOut }
}

function findingsOf({ ends, violations }: Exploration): object {
  return {
    ends: Object.keys(ends).sort(),
    violations: [...new Set(violations.map(({ step, why }) => `${step}: ${why}`))].sort(),
  }
}
