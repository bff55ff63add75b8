import type { Compilable, Kysely } from 'kysely'

/** One numbered step of the schema. It is never changed once released; a change is a new step. */
export interface Migration {
  readonly version: number
  readonly name: string
  statements(schema: Kysely<unknown>['schema']): readonly Compilable[]
}
