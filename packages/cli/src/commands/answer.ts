import { pickAsk, promptAnswer } from '../answers/prompt.ts'
import { type AnswerFlags, hasAnswer, readAnswerFlags } from '../answers/read-answer.ts'
import type { Context } from '../context.ts'
import { type AskJson, type Door, segmentOf } from '../door/door.ts'
import { usageError } from '../door/problem.ts'
import { type ExitStatus, exit } from '../exit.ts'
import { safe } from '../output/out.ts'

export interface AnswerCommandFlags extends AnswerFlags {
  readonly as?: string
}

/** Answers an ask by flags, or by questions on a terminal. */
export async function answer(
  context: Context,
  id: string | undefined,
  flags: AnswerCommandFlags,
): Promise<ExitStatus> {
  const { out } = context
  const door = await context.door()
  const ask = await findAsk(context, door, id)
  await giveAnswer(context, door, ask, flags)
  const settled = await door.get<AskJson>(`/asks/${segmentOf(ask.id)}`)
  if (out.json) out.print(JSON.stringify({ ask: settled }))
  else out.note(`  Answered by ${safe(settled.answer?.by ?? 'unknown')}`)
  return exit.done
}

/** The ask of that id; without one, the person picks. */
export async function findAsk(context: Context, door: Door, id: string | undefined): Promise<AskJson> {
  if (id !== undefined) return door.get<AskJson>(`/asks/${segmentOf(id)}`)
  if (!context.out.canAsk) throw usageError('Pass the id of the ask. `pawl inbox` lists the open ones.')
  const { items } = await door.get<{ readonly items: readonly AskJson[] }>('/asks', { limit: '100' })
  if (items.length === 0) throw usageError('There is no open ask.')
  const picked = await pickAsk(items)
  return door.get<AskJson>(`/asks/${segmentOf(picked.id)}`)
}

export async function giveAnswer(
  context: Context,
  door: Door,
  ask: AskJson,
  flags: AnswerCommandFlags,
): Promise<void> {
  const { out, surroundings } = context
  if (!hasAnswer(flags) && !out.canAsk) throw usageError(`Say what is answered: ${flagsFor(ask)}.`)
  const body = hasAnswer(flags) ? readAnswerFlags(ask, flags, surroundings.cwd) : await promptAnswer(ask)
  await door.post(`/asks/${segmentOf(ask.id)}/answer`, body, { query: { as: flags.as } })
}

function flagsFor({ kind, choices }: AskJson): string {
  switch (kind) {
    case 'approve':
      return '`--approve` (with `--set path=value`) or `--reject`'
    case 'input':
      return '`--value` with JSON'
    case 'review':
    case 'select':
    case 'escalate':
    case 'decide':
      return `\`--choice\` with one of ${choices.map(({ value }) => value).join(', ')}`
  }
}
