import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readLog } from '../../shared/test/read-log.ts'
import { makeFolder, startExample } from '../../shared/test/start-example.ts'

async function setUp() {
  const PAWL_STORE = join(await makeFolder(), 'dungeon.db')
  const start = (...args: string[]) => startExample('../src/main', import.meta.url, args, { PAWL_STORE })
  return {
    start,
    run: async (...args: string[]) => {
      const child = await start(...args)
      return { ...(await child.ended), said: child.output() }
    },
    log: () => readLog(PAWL_STORE, 'dungeon:first'),
  }
}

/** What was asked and answered, without what each process says of itself. */
function storyOf(said: string): readonly string[] {
  const lines = said.split('\n')
  return lines.filter((line, index) => line.startsWith('  >') || lines[index + 1]?.startsWith('  >'))
}

test('a game is played to its end, and the end stays the same', async () => {
  const { run, log } = await setUp()
  const first = await run('--yes')
  expect(first.code).toBe(0)
  expect(first.said).toMatch(/Ada (won|lost), with \d+ health left/)
  const again = await run('--yes')
  expect(again.said.split('\n').at(-1)).toBe(first.said.split('\n').at(-1))
  expect(storyOf(again.said)).toEqual(storyOf(first.said))
  expect((await log()).every(({ status }) => status === 'done')).toBe(true)
})

test('killed after every move, the game is the one that was begun: same rooms, no question asked again', async () => {
  const { run, log } = await setUp()
  const tellings: (readonly string[])[] = []
  for (;;) {
    const { code, signal, said } = await run('--yes', '--die-after', '1')
    tellings.push(storyOf(said))
    if (signal === null) {
      expect(code).toBe(0)
      break
    }
    expect(signal).toBe('SIGKILL')
  }
  const whole = tellings.at(-1) ?? []
  for (const telling of tellings) expect(whole.slice(0, telling.length)).toEqual(telling)

  const entries = await log()
  const asked = entries.filter(({ type }) => type.startsWith('hitl_'))
  expect(asked.length).toBeGreaterThan(2)
  expect(tellings).toHaveLength(asked.length + 1)
  expect(whole).toHaveLength(asked.length * 2)
  expect(entries.map(({ position }) => position)).toEqual(entries.map((_, index) => index))
})

test('killed from outside while it waits, it asks the same question when it is back', async () => {
  const { start, run } = await setUp()
  const { signal } = await run('--yes', '--die-after', '2')
  expect(signal).toBe('SIGKILL')
  const killed = await start()
  const question = await killed.line(/^Waiting for an answer: Room 2/)
  await killed.kill()
  const back = await start()
  expect(await back.line(/^Waiting for an answer/)).toBe(question)
})
