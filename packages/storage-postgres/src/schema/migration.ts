import type { Compilable, Kysely } from 'kysely'

/**
 * One numbered step of the schema. It is never changed once released; a change is a new step. From 7 on a number has
 * one name in both SQL stores; a step that one of them does not need is there without statements.
 */
export interface Migration {
  readonly version: number
  readonly name: string
  /** `table` qualifies the name of a table. */
  statements(schema: Kysely<unknown>['schema'], table: (name: string) => string): readonly Compilable[]
}
