import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { LogEvent } from '../../../src/events/event.ts'
import { Trial } from '../../kernel/support/trial.ts'
import { type Golden, recordGolden } from './support/golden.ts'
import { programOf } from './support/random-program.ts'

// Logs of programs of nested scopes, with what they came to. They hold the order of rejections and what a closing does to
// positions and turns. A change that makes one fail breaks logs of runs that are under way: it needs a kernel flag.
const file = new URL('golden/1.jsonl', import.meta.url)
if (!existsSync(file)) await recordGolden(file, 60, 25)
const golden = readFileSync(file, 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Golden)

test('has golden logs of nested scopes', () => expect(golden).toHaveLength(60))

test.each(golden.map((one, i) => [i, one] as const))(
  'replays golden log %i to the same end',
  async (_, { root, events, issued, notes, outcome }) => {
    const trial = new Trial(programOf(root))
    const log = events.map(
      (event) => ({ ...event, payload: Buffer.from(event.payload), link: null }) as LogEvent,
    )
    await trial.deliver(log)
    expect(trial.account).toEqual({ issued, notes, outcome })
  },
)
