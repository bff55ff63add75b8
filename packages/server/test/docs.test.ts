import { expect, test } from 'vitest'
import { proseOf, readPages } from '../../../test/docs/support/pages.ts'
import { routes } from '../src/routes/table.ts'

test('the routes on the pages exist', () => {
  const known = new Set(routes.map(({ method, path }) => `${method} /v1${path}`))
  const told = readPages().flatMap(({ path, text }) =>
    [...proseOf(text).matchAll(/\b(?:GET|POST|PUT|PATCH|DELETE) \/[^\s`'?"]+/g)].map(([route]) => ({
      path,
      route,
    })),
  )
  expect(told.length).toBeGreaterThan(20)
  expect(told.filter(({ route }) => !known.has(route))).toEqual([])
})
