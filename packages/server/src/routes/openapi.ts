import { z } from 'zod'
import { problemShape } from '../json/shapes.ts'
import type { Route } from './route.ts'

type JsonSchema = { readonly [key: string]: unknown }

/** Makes the OpenAPI 3.1 document of the routes. */
export function openApiDocument(routes: readonly Route[]): JsonSchema {
  const components: Record<string, unknown> = {}
  const schemaOf: SchemaOf = (schema, io) => hoist(schema, io, components)
  const problem = {
    description: 'An error',
    content: { 'application/problem+json': { schema: schemaOf(problemShape, 'output') } },
  }
  const paths: Record<string, Record<string, unknown>> = {}
  for (const route of routes) {
    const path = `/v1${route.path}`
    const operation = {
      ...describeRequest(route, schemaOf),
      responses: responsesOf(route, schemaOf, problem),
    }
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation }
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Pawl', version: '1', description: 'Asks, runs and logs of durable procedures.' },
    security: [{ bearer: [] }, { cookie: [] }],
    paths,
    components: {
      schemas: components,
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        cookie: { type: 'apiKey', in: 'cookie', name: 'pawl' },
      },
    },
  }
}

type SchemaOf = (schema: z.ZodType, io: 'input' | 'output') => JsonSchema

function describeRequest(route: Route, schemaOf: SchemaOf): JsonSchema {
  const { summary, roles, body, takes } = route
  const type = takes === 'bytes' ? 'application/octet-stream' : 'application/json'
  return {
    summary,
    description: `Roles: ${roles.join(', ')}.`,
    parameters: [...pathParameters(route), ...queryParameters(route, schemaOf), ...headerParameters(route)],
    ...(body === null
      ? {}
      : { requestBody: { required: true, content: { [type]: { schema: schemaOf(body, 'input') } } } }),
  }
}

function responsesOf(route: Route, schemaOf: SchemaOf, problem: JsonSchema): JsonSchema {
  const replies = Object.entries(route.replies).map(([status, schema]) => [
    status,
    { description: 'Done', content: { [typeOfReply(route)]: { schema: schemaOf(schema, 'output') } } },
  ])
  return { ...Object.fromEntries(replies), default: problem }
}

function typeOfReply({ isStream, sends }: Route): string {
  if (isStream) return 'text/event-stream'
  return sends === 'bytes' ? 'application/octet-stream' : 'application/json'
}

function pathParameters({ path }: Route): readonly JsonSchema[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    ...{ name, in: 'path', required: true, schema: { type: 'string' } },
  }))
}

function queryParameters({ query }: Route, schemaOf: SchemaOf): readonly JsonSchema[] {
  return Object.entries(query.shape).map(([name, schema]) => ({
    ...{ name, in: 'query', required: false, schema: schemaOf(schema as z.ZodType, 'input') },
  }))
}

function headerParameters({ method }: Route): readonly JsonSchema[] {
  return method === 'GET'
    ? []
    : [{ name: 'Idempotency-Key', in: 'header', required: false, schema: { type: 'string' } }]
}

/** Converts a schema; what has an id moves into the components, and is referred to. */
function hoist(schema: z.ZodType, io: 'input' | 'output', components: Record<string, unknown>): JsonSchema {
  const {
    $schema: _dialect,
    $defs = {},
    ...rest
  } = z.toJSONSchema(schema, {
    ...{ io, unrepresentable: 'any' },
    // Later versions add fields to replies.
    override: ({ jsonSchema }) => {
      if (io === 'output' && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties
    },
  })
  for (const [name, definition] of Object.entries($defs)) components[name] = refer(definition)
  return refer(rest) as JsonSchema
}

function refer(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(refer)
  if (typeof part !== 'object' || part === null) return part
  return Object.fromEntries(
    Object.entries(part)
      .filter(
        ([key]) =>
          key !== 'id' || typeof (part as JsonSchema)['type'] !== 'string' || !('properties' in part),
      )
      .map(([key, item]) => [
        key,
        key === '$ref' && typeof item === 'string'
          ? item.replace('#/$defs/', '#/components/schemas/')
          : refer(item),
      ]),
  )
}
