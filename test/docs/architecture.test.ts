import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readPage, root } from './support/pages.ts'

const folders: { readonly [first: string]: string } = {
  run: 'core/src/worker/run',
  activities: 'core/src/worker/activities',
  server: 'server/src',
  inbox: 'inbox/src',
  cli: 'cli/src',
  otel: 'otel/src',
  channels: 'channels/src',
}

/** The place that a short name of the table stands for, as the text above the table says. */
function pathOf(name: string): string {
  const [first = '', ...rest] = name.split('/')
  return join('packages', folders[first] ?? join('core/src', first), ...rest)
}

test('the short names in the table of features name files and folders', () => {
  const [, table = ''] =
    /\n\| feature .*\n\|[ |-]+\n((?:\|.*\n)+)/.exec(readPage('ARCHITECTURE.md').text) ?? []
  const names = table.split('\n').flatMap((row) =>
    row
      .split('|')
      .slice(2)
      .flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name)),
  )
  expect(names.length).toBeGreaterThan(60)
  expect(names.filter((name) => !existsSync(join(root, pathOf(name))))).toEqual([])
})
