import { expect, test } from 'vitest'
import { findCycle } from '../scripts/layers/cycles.ts'
import { explainMutualFolders } from '../scripts/layers/folders.ts'
import { readModule } from '../scripts/layers/module.ts'
import { explainFile, explainImport, explainUse } from '../scripts/layers/rules.ts'

const core = 'packages/core/src'

test.each([
  [`${core}/events/event.ts`, `${core}/kernel/turns.ts`],
  [`${core}/kernel/turns.ts`, `${core}/host/turn.ts`],
  [`${core}/kernel/turns.ts`, `${core}/index.ts`],
  [`${core}/client/list.ts`, `${core}/worker/claim.ts`],
  [`${core}/worker/claim.ts`, `${core}/client/list.ts`],
  [`${core}/elsewhere/file.ts`, `${core}/base/text.ts`],
  [`${core}/kernel/turns.ts`, 'node:crypto'],
  [`${core}/engine.ts`, 'node:crypto'],
  [`${core}/index.ts`, '@pawl/testing'],
  [`${core}/engine.ts`, '@pawl/channels'],
  ['packages/storage-sqlite/src/store.ts', '@pawl/core'],
  ['packages/storage-sqlite/src/store.ts', `${core}/storage.ts`],
  ['examples/refund/src/demo.ts', `${core}/index.ts`],
  ['test/kill.test.ts', `${core}/index.ts`],
])('%s may not import %s', (file, target) => {
  expect(explainImport(file, target)).toEqual(expect.any(String))
})

test.each([
  [`${core}/kernel/turns.ts`, `${core}/events/event.ts`],
  [`${core}/kernel/turns.ts`, `${core}/kernel/operation.ts`],
  [`${core}/worker/claim.ts`, `${core}/authoring/context.ts`],
  [`${core}/engine.ts`, `${core}/client/list.ts`],
  [`${core}/host/natives.ts`, 'node:async_hooks'],
  ['packages/core/test/kernel/turns.test.ts', `${core}/kernel/turns.ts`],
  ['packages/storage-sqlite/src/store.ts', '@pawl/core/storage'],
  ['packages/storage-sqlite/src/store.ts', 'node:fs'],
  ['packages/testing/src/index.ts', '@pawl/core/internal'],
  ['examples/refund/src/demo.ts', '@pawl/core'],
])('%s may import %s', (file, target) => {
  expect(explainImport(file, target)).toBeUndefined()
})

test('every way to import is seen', () => {
  const text = [
    `import './a.ts'`,
    `import type { B } from './b.ts'`,
    `export { c } from './c.ts'`,
    `export * from './d.ts'`,
    `const e = await import('./e.ts')`,
    `type F = import('./f.ts').F`,
    `// import './g.ts'`,
  ].join('\n')
  expect(readModule('module.ts', text).imports).toEqual(
    ['a', 'b', 'c', 'd', 'e', 'f'].map((name, index) => ({ specifier: `./${name}.ts`, line: index + 1 })),
  )
})

const faultsIn = (text: string): string[] =>
  readModule('module.ts', text).uses.flatMap(({ name }) =>
    explainUse(`${core}/kernel/turns.ts`, name) ? [name] : [],
  )

test.each([
  ['Date.now()', 'Date.now'],
  ['new Date()', 'new Date()'],
  ['Date()', 'Date()'],
  ['Math.random()', 'Math.random'],
  ['setTimeout(go, 1)', 'setTimeout'],
  ['({ console })', 'console'],
  ['const { env } = process', 'process'],
  ['await fetch(url)', 'fetch'],
])('%s is kept out of the kernel', (text, name) => {
  expect(faultsIn(text)).toEqual([name])
})

test.each([
  'new Date(0)',
  'value instanceof Date',
  'this.clock.performance',
  'const x = { fetch: 1 }',
  "'process'",
])('%s is pure', (text) => {
  expect(faultsIn(text)).toEqual([])
})

test('only entry points are index files', () => {
  expect(explainFile(`${core}/index.ts`)).toBeUndefined()
  expect(explainFile(`${core}/kernel/index.ts`)).toEqual(expect.any(String))
})

test.each([
  'client/channels/router.ts',
  'channels.ts',
  'client/inbox/channel-router.ts',
  'worker/hooks/reader.ts',
  'slack.ts',
])('core has no %s: it is a plug-in', (file) => {
  expect(explainFile(`${core}/${file}`)).toMatch(/plug-ins/)
  expect(explainFile(`packages/channels/src/${file}`)).toBeUndefined()
})

test('a file of the engine may have a name that is like one of a plug-in', () => {
  expect(explainFile(`${core}/ports/store/mail.ts`)).toBeUndefined()
  expect(explainFile(`${core}/client/plugins/plugin.ts`)).toBeUndefined()
})

test('a cycle is named from end to end', () => {
  const graph = new Map([
    ['a', ['b', 'c']],
    ['b', []],
    ['c', ['d']],
    ['d', ['c']],
  ])
  expect(findCycle(graph)).toEqual(['c', 'd', 'c'])
  graph.set('d', ['b'])
  expect(findCycle(graph)).toBeUndefined()
})

test('two sibling folders that import each other are named with both imports', () => {
  const graph = new Map([
    ['src/a/one.ts', ['src/b/two.ts']],
    ['src/b/deep/three.ts', ['src/a/one.ts']],
  ])
  expect(explainMutualFolders(graph)).toEqual([
    'src/a and src/b import each other: src/a/one.ts -> src/b/two.ts, src/b/deep/three.ts -> src/a/one.ts',
  ])
})

test.each([
  ['one way', { 'src/a/one.ts': ['src/b/two.ts'], 'src/b/two.ts': ['src/b/three.ts'] }],
  ['a file beside the folder', { 'src/a/one.ts': ['src/two.ts'], 'src/two.ts': ['src/a/one.ts'] }],
  ['a folder inside the folder', { 'src/a/one.ts': ['src/a/b/two.ts'], 'src/a/b/two.ts': ['src/a/one.ts'] }],
])('folders may import %s', (_, graph) => {
  expect(explainMutualFolders(new Map(Object.entries(graph)))).toEqual([])
})
