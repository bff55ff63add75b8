import type { Answered, GivenAnswer, KeptAnswer, NewAnswer } from '@pawl/core/storage'
import { tell } from '../feed.ts'
import { showAsk } from '../reads/asks.ts'
import { copy, type Tables } from '../tables.ts'
import { findDamage, leaveMessage } from './message.ts'

export function giveAnswer(tables: Tables, { run: id, position, ...given }: NewAnswer, at: number): Answered {
  const run = tables.runs.get(id)
  const ask = run?.asks.get(position)
  if (!run || !ask) return { outcome: 'missing' }
  const damaged = findDamage(run)
  if (damaged) return damaged
  const isOpen = run.state === 'live' && ask.status === 'open' && (ask.closesAt === null || at < ask.closesAt)
  if (!isOpen) return { outcome: 'closed', ask: showAsk(ask) }
  Object.assign(ask, { status: 'answered', closedAt: at, ...keepAnswer(given) })
  tell(tables, 'ask-closed', run, position, at)
  const { payload } = given
  const message = leaveMessage(run, {
    at,
    kind: 'answer',
    name: String(position),
    key: null,
    by: null,
    payload,
  })
  return { outcome: 'answered', run: run.run, message, claimed: null }
}

/** What the record of an ask keeps of its answer. */
export function keepAnswer({ by, payload }: GivenAnswer): KeptAnswer {
  return { answeredBy: by, answer: copy(payload) }
}
