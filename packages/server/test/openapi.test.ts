import { readFileSync, writeFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, test } from 'vitest'
import { openApiDocument } from '../src/routes/openapi.ts'
import { routes } from '../src/routes/table.ts'
import { findRemovals } from './support/removals.ts'

const golden = new URL('golden/openapi.json', import.meta.url)
const document = openApiDocument(routes)

test('the document keeps everything that the golden copy has', () => {
  expect(findRemovals(JSON.parse(readFileSync(golden, 'utf8')), document)).toEqual([])
})

// After an addition: UPDATE_GOLDEN=1 npx vitest run packages/server/test/openapi.test.ts
test('the golden copy is up to date', () => {
  if (process.env['UPDATE_GOLDEN']) writeFileSync(golden, JSON.stringify(document, null, 2))
  expect(document).toEqual(JSON.parse(readFileSync(golden, 'utf8')))
})

test('the document is valid OpenAPI 3.1 with schemas that compile', () => {
  expect(document).toMatchObject({ openapi: '3.1.0', info: { title: 'Pawl' } })
  const ajv = new Ajv2020({ strict: false, formats: { 'date-time': true } })
  ajv.addSchema(document, 'doc')
  const found = schemaPointers(document)
  expect(found.length).toBeGreaterThan(50)
  for (const pointer of found) expect(() => ajv.compile({ $ref: `doc#${pointer}` }), pointer).not.toThrow()
})

test.each<[string, (copy: Loose) => void, string]>([
  ['a route', (copy) => delete copy['paths']['/v1/asks'], '/paths/~1v1~1asks'],
  [
    'a reply field',
    (copy) => delete copy['components'].schemas.Run.properties.tags,
    '/components/schemas/Run/properties/tags',
  ],
  [
    'a value of an enum',
    (copy) => copy['components'].schemas.Run.properties.status.enum.pop(),
    '/components/schemas/Run/properties/status/enum: "quarantined"',
  ],
  [
    'a type',
    (copy) => {
      copy['components'].schemas.Run.properties.version.type = 'string'
    },
    '/components/schemas/Run/properties/version/type: "number"',
  ],
  [
    'a query parameter',
    (copy) => copy['paths']['/v1/runs'].get.parameters.shift(),
    '/paths/~1v1~1runs/get/parameters: query procedure',
  ],
  [
    'an optional field that becomes required',
    (copy) =>
      copy['paths']['/v1/runs'].post.requestBody.content['application/json'].schema.required.push('id'),
    '/paths/~1v1~1runs/post/requestBody/content/application~1json/schema/required: "id" is new',
  ],
  [
    'a query parameter that becomes required',
    (copy) => {
      copy['paths']['/v1/runs'].get.parameters[0].required = true
    },
    '/paths/~1v1~1runs/get/parameters: query procedure is required',
  ],
  [
    'a new query parameter that is required',
    (copy) =>
      copy['paths']['/v1/runs'].get.parameters.push({
        name: 'tenant',
        in: 'query',
        required: true,
        schema: {},
      }),
    '/paths/~1v1~1runs/get/parameters: query tenant is required',
  ],
  [
    'a promised field of a reply',
    (copy) => copy['components'].schemas.Run.required.shift(),
    '/components/schemas/Run/required: "id"',
  ],
])('the removal of %s is found', (_what, remove, found) => {
  const copy = structuredClone(document) as Loose
  remove(copy)
  expect(findRemovals(document, copy)).toEqual([found])
})

test('a request that needs less than before is no removal', () => {
  const copy = structuredClone(document) as Loose
  const { requestBody } = copy['paths']['/v1/runs'].post
  requestBody.required = false
  delete requestBody.content['application/json'].schema.required
  expect(findRemovals(document, copy)).toEqual([])
})

// biome-ignore lint/suspicious/noExplicitAny: a document to be damaged
type Loose = { [key: string]: any }

/** The pointers of all schemas in the document. */
function schemaPointers(part: unknown, path = ''): readonly string[] {
  if (typeof part !== 'object' || part === null) return []
  return Object.entries(part).flatMap(([key, value]) => {
    const pointer = `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`
    const isSchema = key === 'schema' || path === '/components/schemas'
    return isSchema ? [pointer] : schemaPointers(value, pointer)
  })
}
