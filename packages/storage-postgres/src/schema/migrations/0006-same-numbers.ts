import type { Migration } from '../migration.ts'

/**
 * Changes nothing. The first five numbers mean other steps here than in SQLite, and a schema keeps the numbers it
 * was migrated with: both stores have six steps, and from 7 on a number has one name in both.
 */
export const sameNumbers: Migration = { version: 6, name: 'same-numbers', statements: () => [] }
