import type { Migration } from '../migration.ts'

/**
 * Changes nothing. The first five numbers are different steps here and in SQLite, and a migrated schema keeps its
 * numbers. Both stores have six steps; from 7 on, a number has the same name in both.
 */
export const sameNumbers: Migration = { version: 6, name: 'same-numbers', statements: () => [] }
