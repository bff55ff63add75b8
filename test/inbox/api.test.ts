import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '../..')
const golden = join(root, 'packages/server/test/golden/openapi.json')

test('the inbox calls only routes that the document of the server has, with their methods', () => {
  const text = readFileSync(join(root, 'packages/inbox/src/api/calls.ts'), 'utf8')
  const calls = [...text.matchAll(/request\(\s*'(GET|POST)',\s*[`']([^`']+)[`']/g)].map(
    ([, method = '', path = '']) =>
      `${method} ${path.replace(/\$\{search\(\w+\)\}$/, '').replaceAll(/\$\{[^}]+\}/g, '{}')}`,
  )
  const { paths } = JSON.parse(readFileSync(golden, 'utf8')) as {
    readonly paths: { readonly [path: string]: object }
  }
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replaceAll(/\{\w+\}/g, '{}')}`),
  )
  expect(calls.length).toBeGreaterThan(10)
  const outside = ['POST /login', 'POST /logout']
  expect(calls.filter((call) => !routes.includes(call) && !outside.includes(call))).toEqual([])
})
