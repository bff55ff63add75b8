import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '../..')
const golden = join(root, 'packages/server/test/golden/openapi.json')

test('the inbox calls only routes that the document of the server has, with their methods', () => {
  const folder = join(root, 'packages/inbox/src/api')
  const text = readdirSync(folder)
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .join('\n')
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
