import type { Compilable, Kysely } from 'kysely'

/**
 * A numbered step of the schema. A released migration never changes; a change is a new migration. From number 7 on,
 * both SQL stores use the same name for a number. A store that does not need a migration has it without statements.
 */
export interface Migration {
  readonly version: number
  readonly name: string
  statements(schema: Kysely<unknown>['schema']): readonly Compilable[]
}
