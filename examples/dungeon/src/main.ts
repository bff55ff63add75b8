// The game at a terminal. Kill it at any move and start it again: it resumes at the same one.
import { parseArgs } from 'node:util'
import { type Answer, type Ask, createEngine } from '@pawl/core'
import { attend, untilClosed } from '../../shared/src/attend.ts'
import { openStore } from '../../shared/src/store.ts'
import { hasTerminal, settleInTerminal } from '../../shared/src/terminal.ts'
import { dungeon } from './dungeon.ts'

const { values } = parseArgs({
  options: { game: { type: 'string' }, yes: { type: 'boolean' }, 'die-after': { type: 'string' } },
})
const game = values.game ?? 'first'
const dieAfter = Number(values['die-after'] ?? Number.POSITIVE_INFINITY)

const engine = await createEngine({ store: await openStore('.pawl/dungeon.db'), procedures: [dungeon] })
// The same game is the same run, however often this program is started.
const run = await engine.run(dungeon, undefined, { id: `dungeon:${game}` })
console.log(`Game "${game}", process ${process.pid}. Try kill -9 ${process.pid}, then start me again.`)
await tellWhatWas()

let answers = 0
const end = await attend(engine, run, settle)
if (end === undefined) console.log('The game waits. Start it again to continue.')
else console.log(`${end.hero} ${end.ending}, with ${end.health} health left. Another game: --game second`)
await engine.stop()

/** The story so far. It comes from the store: nothing is generated or asked again. */
async function tellWhatWas(): Promise<void> {
  const { items } = await engine.inbox.list({ run: run.id, status: 'answered' })
  for (const { message, answer } of [...items].sort((a, b) => a.position - b.position))
    if (answer !== undefined) tell(message, answer)
}

function tell(message: string, answer: Answer): void {
  console.log(`${message}\n  > ${wordFor(answer)}`)
}

function wordFor(answer: Answer): string {
  if ('choice' in answer) return answer.choice
  if ('value' in answer) return Object.values(answer.value as object).join(' the ')
  return answer.approved ? 'yes' : 'no'
}

async function settle(ask: Ask): Promise<boolean> {
  const settled = await answer(ask)
  answers += 1
  if (settled && answers >= dieAfter) process.kill(process.pid, 'SIGKILL')
  return settled
}

async function answer(ask: Ask): Promise<boolean> {
  if (values.yes) {
    const given = scriptedAnswer(ask)
    tell(ask.message, given)
    await engine.inbox.answer(ask.id, given, { as: 'user:script' })
    return true
  }
  if (hasTerminal()) return (await settleInTerminal(engine, ask, 'user:you')) !== undefined
  console.log(`Waiting for an answer: ${ask.message}`)
  return untilClosed(engine, ask)
}

function scriptedAnswer({ kind, choices }: Ask): Answer {
  if (kind === 'input') return { value: { name: 'Ada', trade: 'rogue' } }
  return kind === 'select' ? { choice: choices[0]?.value ?? '' } : { approved: true }
}
