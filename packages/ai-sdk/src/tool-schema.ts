import type { Schema } from '@pawl/core'
import { asSchema, type ToolSet } from 'ai'

type Tool = ToolSet[string]

/**
 * Returns the schema of a tool as that of a question, so that its form has bounds and an invalid edit is refused. It checks the
 * edited input as it is: the tool runs with that, and not with what the schema would make of it.
 */
export async function schemaOf(tool: Tool | undefined): Promise<{ readonly schema?: Schema }> {
  const { validate, jsonSchema } = asSchema(tool?.inputSchema)
  if (!validate) return {}
  const json = await jsonSchema
  return {
    schema: {
      '~standard': {
        version: 1,
        vendor: 'ai-sdk',
        validate: async (value: unknown) => {
          const result = await validate(value)
          return result.success ? { value } : { issues: readIssues(result.error) }
        },
        ...{ jsonSchema: { input: () => json } },
      },
    },
  }
}

/** Validates an edited input with the schema of the tool. Returns its issues, or null. */
export async function issuesOf(tool: Tool | undefined, input: unknown): Promise<string | null> {
  const { validate } = asSchema(tool?.inputSchema)
  if (!validate) return null
  const result = await validate(input)
  return result.success ? null : result.error.message
}

interface Issue {
  readonly message: string
  readonly path?: readonly PropertyKey[]
}

/** The SDK wraps the error of the library, which lists its issues. */
function readIssues(error: Error): readonly Issue[] {
  const { issues } = (error.cause ?? error) as { readonly issues?: readonly Issue[] }
  return issues ?? [{ message: error.message }]
}
