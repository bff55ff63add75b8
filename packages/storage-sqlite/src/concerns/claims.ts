import type { Claimant, Claims, WholeStore } from '@pawl/core/storage'
import type { Statements } from '../statements.ts'
import { Claiming } from '../transactions.ts'
import type { StoreParts } from './parts.ts'

export function createClaims({ connection, transactions }: StoreParts): WholeStore['claims'] {
  return {
    async claim(claimant, limit) {
      const { claims, isAnyDue } = await connection.read((statements, at) => ({
        isAnyDue: limit > 0 && statements.claims.findDue(claimant, 1, at).length > 0,
        claims: { runs: [], at, ...look(statements, claimant, at) },
      }))
      // Usually nothing is due, and then no lock is needed.
      if (!isAnyDue) return claims
      return transactions.granting((statements, at) => {
        const claimed = new Claiming(statements, claimant, at)
        const runs = statements.claims.findDue(claimant, limit, at).flatMap((run) => claimed.take(run) ?? [])
        const result = { runs, at, ...look(statements, claimant, at) }
        return { result, granted: claimed.granted }
      })
    },
    take: (claimant, runs) =>
      transactions.granting((statements, at) => {
        const claimed = new Claiming(statements, { ...claimant, suspects: 'all' }, at)
        return { result: runs.flatMap((run) => claimed.take(run) ?? []), granted: claimed.granted }
      }),
    cancelled: (ageMs, limit) =>
      connection.read(({ claims }, at) => claims.findCancelled(at - ageMs, limit, at)),
    takeCancelled: (worker, runs) =>
      transactions.granting((statements, at) => {
        const claimed = runs.flatMap((run) => statements.claims.claimCancelled(run, worker, at) ?? [])
        return { result: claimed, granted: claimed.map((one) => ({ ...one, worker })) }
      }),
    backlog: () => connection.read(({ readBacklog }, at) => readBacklog(at)),
    retryStuck: (claimant) => connection.write(({ claims }, at) => claims.retryStuck(claimant, at)),
  }
}

/** Reads the parts of `Claims` other than its runs. */
function look({ claims }: Statements, claimant: Claimant, at: number): Omit<Claims, 'runs' | 'at'> {
  return { nextDueAt: claims.findNextDue(claimant), leavesSuspects: claims.leavesSuspects(claimant, at) }
}
