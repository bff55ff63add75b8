import { isPostgres } from '../test-store.ts'
import type { Place } from './place.ts'
import { makePostgresPlace } from './postgres-place.ts'
import type { KillMoment } from './sabotage.ts'
import { makeSqlitePlace } from './sqlite-place.ts'

/** Makes a place in the SQL store under test. Default: SQLite. */
export const makePlace: () => Promise<Place> = isPostgres ? () => makePostgresPlace() : makeSqlitePlace

/** The moments of a write at which a worker can be killed: a write to SQLite is never under way. */
export const killMoments: readonly KillMoment[] = isPostgres
  ? ['before', 'sent', 'after']
  : ['before', 'after']

/** The moment that finds most, for tests that try one. */
export const killMoment: KillMoment = isPostgres ? 'sent' : 'after'
