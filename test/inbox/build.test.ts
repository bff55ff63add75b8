import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '../../packages/inbox')
const built = join(root, 'dist')

const sizeOf = (names: readonly string[]): number =>
  names.reduce((sum, name) => sum + gzipSync(readFileSync(join(built, name))).length, 0)

test('the first load is at most 45 kB (gzip), all of it at most 95 kB, its styles at most 10 kB', () => {
  const page = readFileSync(join(built, 'index.html'), 'utf8')
  const first = [...page.matchAll(/"\.\/(assets\/[^"]+)"/g)].map(([, name]) => name ?? '')
  const all = readdirSync(join(built, 'assets'))
    .filter((name) => !/\.(br|gz)$/.test(name))
    .map((name) => `assets/${name}`)
  expect(first.length).toBeGreaterThan(1)
  expect(sizeOf([...first, 'index.html'])).toBeLessThanOrEqual(45_000)
  expect(sizeOf([...all, 'index.html'])).toBeLessThanOrEqual(95_000)
  expect(sizeOf(all.filter((name) => name.endsWith('.css')))).toBeLessThanOrEqual(10_000)
})

test('no source of the inbox has a way from a text to HTML or to code', () => {
  const ways =
    /innerHTML|outerHTML|insertAdjacentHTML|document\.write|createContextualFragment|setHTML|DOMParser|\beval\(|new Function|srcdoc/i
  const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => join('src', name))
  expect(sources.length).toBeGreaterThan(30)
  expect(sources.filter((name) => ways.test(readFileSync(join(root, name), 'utf8')))).toEqual([])
})
