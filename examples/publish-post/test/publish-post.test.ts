import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readLog } from '../../shared/test/read-log.ts'
import { makeFolder, startExample } from '../../shared/test/start-example.ts'

async function setUp() {
  const folder = await makeFolder()
  const PAWL_STORE = join(folder, 'publish.db')
  const start = (...args: string[]) =>
    startExample('../src/main', import.meta.url, args, { PAWL_STORE, PUBLISH_SITE: folder })
  return {
    folder,
    start,
    run: async (...args: string[]) => {
      const child = await start(...args)
      const { code } = await child.ended
      return { code, said: child.output() }
    },
    read: (file: string) => readFile(join(folder, file), 'utf8').catch(() => ''),
    /** How many lines the feed, the announcements and the sitemap have. */
    count: async () => {
      const files = ['feed.jsonl', 'announcements.jsonl', 'sitemap.jsonl']
      const texts = await Promise.all(
        files.map((file) => readFile(join(folder, file), 'utf8').catch(() => '')),
      )
      return texts.map((text) => text.split('\n').length - 1)
    },
    readLog: (slug: string) => readLog(PAWL_STORE, `publish:${slug}`),
  }
}

test('a good post is published once, when the editor wanted it, however often that is asked for', async () => {
  const { run, read, count, readLog } = await setUp()
  const first = await run('--yes')
  expect(first.code).toBe(0)
  expect(first.said).toMatch(/harbour-lights: published \(live, /)
  expect(await read('harbour-lights.html')).toContain('<h1 id="harbour-lights">')
  expect(await read('dashboard.txt')).toBe('1 posts are online\n')
  expect((await run('--yes')).said).toMatch(/harbour-lights: published/)
  expect(await count()).toEqual([1, 1, 1])

  const log = await readLog('harbour-lights')
  expect(log.every(({ status }) => status === 'done')).toBe(true)
  expect(log.filter(({ type }) => type === 'ail_decision')).toHaveLength(2)
  expect(log.find(({ type }) => type === 'hitl_review')?.result).toMatchObject({
    choice: 'approve',
    changed: true,
  })
  expect(log.find(({ type }) => type === 'timer')?.duration_ms).toBeGreaterThan(500)
})

test('the agent keeps a bad post from the editor', async () => {
  const { run, count } = await setUp()
  const { code, said } = await run('rough-notes', '--yes')
  expect(code).toBe(0)
  expect(said).toMatch(/rejected \(there is no image images\/map\.png; .*the link to #nowhere leads nowhere/)
  expect(await count()).toEqual([0, 0, 0])
})

test('the agent asks people when it is unsure', async () => {
  const { start } = await setUp()
  const main = await start('old-charts')
  expect(await main.line(/Waiting/)).toBe(
    'Waiting for an answer: Is it good enough to be shown to an editor?',
  )
})

test('a post that an edit has broken is taken back, and operations are told', async () => {
  const { run, read, count } = await setUp()
  const { said } = await run('old-charts', '--careless')
  expect(said).toMatch(/old-charts was taken back: the link to nowhere\/.*severity: 'error'/)
  expect(said).toMatch(/old-charts: taken back/)
  expect(await read('old-charts.html')).toBe('')
  expect(await count()).toEqual([0, 1, 0])
})

test('when even that fails, operations are told so', async () => {
  const { folder, run, read } = await setUp()
  await writeFile(join(folder, 'legal-holds.txt'), 'old-charts\n')
  const { said } = await run('old-charts', '--careless')
  expect(said).toMatch(/could not be taken back: .*legal hold.*severity: 'critical'/)
  expect(said).toMatch(/old-charts: broken/)
  expect(await read('old-charts.html')).not.toBe('')
})

test('killed while it waits and killed while it publishes, it resumes and does nothing twice', async () => {
  const { start, run, read, count, readLog } = await setUp()
  const first = await start()
  await first.line(/^Waiting for an answer: Publish/)
  await first.kill()

  const second = await start('--yes')
  await expect.poll(() => read('feed.jsonl'), { interval: 5 }).toContain('harbour-lights')
  await second.kill()

  expect((await run('--yes')).said).toMatch(/harbour-lights: published/)
  expect(await count()).toEqual([1, 1, 1])
  const names = (await readLog('harbour-lights')).map(({ name }) => name)
  expect(names.filter((name) => name === 'review')).toHaveLength(1)
  expect(names.filter((name) => name === 'announce')).toHaveLength(1)
})

test('a draft that is not there ends the run with a word about it', async () => {
  const { run } = await setUp()
  const { code, said } = await run('nothing', '--yes')
  expect(code).toBe(1)
  expect(said).toContain('there is no draft "nothing"')
})
