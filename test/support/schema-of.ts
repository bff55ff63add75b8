import type { Schema } from '@pawl/core'

/** A Standard Schema that accepts everything, with the given JSON Schema: only that is checked. */
export function schemaOf(json: object): Schema {
  return {
    '~standard': {
      version: 1,
      vendor: 'test',
      validate: (value: unknown) => ({ value }),
      jsonSchema: { input: () => json, output: () => json },
    },
  } as Schema
}
