import { confirmAnswer } from '../answers/confirm.ts'
import { pickAsk, promptAnswer } from '../answers/prompt.ts'
import { type AnswerFlags, type AnswerJson, hasAnswer, readAnswerFlags } from '../answers/read-answer.ts'
import { openTerminal } from '../answers/terminal.ts'
import type { Context } from '../context.ts'
import { type AskJson, type Door, segmentOf } from '../door/door.ts'
import { CommandError, usageError } from '../door/problem.ts'
import { type ExitStatus, exit } from '../exit.ts'
import { showAsk } from '../output/ask.ts'
import { safe } from '../output/out.ts'

export interface AnswerCommandFlags extends AnswerFlags {
  readonly as?: string
  readonly yes?: boolean
}

/** Poll interval while the person types, in ms. */
const pollMs = 500

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
  const { out, signal } = context
  if (id !== undefined) return readAsk(door, id)
  if (!out.canAsk) throw usageError('Pass the id of the ask. `pawl inbox` lists the open ones.')
  const { items } = await door.get<{ readonly items: readonly AskJson[] }>('/asks', { limit: '100' })
  if (items.length === 0) throw usageError('There is no open ask.')
  const picked = await pickAsk(openTerminal(signal), items)
  return door.get<AskJson>(`/asks/${segmentOf(picked.id)}`)
}

/** Reads an ask by its id, by `run/position`, or by `run/key`: as the author names it. */
export async function readAsk(door: Door, id: string): Promise<AskJson> {
  try {
    return await door.get<AskJson>(`/asks/${segmentOf(id)}`)
  } catch (error) {
    if (!(error instanceof CommandError) || !isNotFound(error)) throw error
    const found = await findByKey(door, id)
    if (found === undefined)
      throw new CommandError({
        ...error.problem,
        detail: `There is no ask ${id}, and no open one of that run and key. \`pawl inbox\` lists the open asks.`,
      })
    return door.get<AskJson>(`/asks/${segmentOf(found.id)}`)
  }
}

/** Runs and keys may contain slashes. */
async function findByKey(door: Door, name: string): Promise<AskJson | undefined> {
  for (let at = name.indexOf('/'); at > 0; at = name.indexOf('/', at + 1)) {
    const [run, key] = [name.slice(0, at), name.slice(at + 1)]
    const { items } = await door.get<{ readonly items: readonly AskJson[] }>('/asks', { run, limit: '500' })
    const found = items.find((ask) => ask.key === key)
    if (found !== undefined) return found
  }
  return undefined
}

export function isNotFound(error: unknown): boolean {
  return error instanceof CommandError && error.status === exit.notFound
}

export async function giveAnswer(
  context: Context,
  door: Door,
  ask: AskJson,
  flags: AnswerCommandFlags,
): Promise<void> {
  const { out, surroundings } = context
  const send = async (body: AnswerJson): Promise<void> => {
    await confirmAnswer(context, ask, body, flags.yes === true)
    await door.post(`/asks/${segmentOf(ask.id)}/answer`, body, {
      query: { as: flags.as, digest: ask.digest },
    })
  }
  if (hasAnswer(flags)) {
    await send(readAnswerFlags(ask, flags, surroundings.cwd))
    return
  }
  if (!out.canAsk) throw usageError(`Say what is answered: ${flagsFor(ask)}.`)
  refuseClosed(ask)
  const body = await promptWhileOpen(context, door, ask, flags)
  try {
    await send(body)
  } catch (error) {
    // Print the answer, so that the typed text is not lost.
    out.note(`  Your answer was not stored: ${safe(JSON.stringify(body))}`)
    throw error
  }
}

/** Asks the person for an answer, and ends the questions at once if another answer is accepted meanwhile. */
async function promptWhileOpen(
  context: Context,
  door: Door,
  ask: AskJson,
  { as, comment }: AnswerCommandFlags,
): Promise<AnswerJson> {
  const { out, signal } = context
  const path = `/asks/${segmentOf(ask.id)}`
  const closed = new AbortController()
  const terminal = openTerminal(AbortSignal.any([signal, closed.signal]))
  let latest = ask
  const timer = setInterval(() => {
    // A failed poll is ignored; sending the answer reports the error.
    void door.get<AskJson>(path).then(
      (now) => {
        latest = now
        if (now.status !== 'open') closed.abort()
      },
      () => {},
    )
  }, pollMs)
  const check = async (answer: AnswerJson) =>
    (await door.post<Checked>(`${path}/check`, answer, { query: { as } })).issues
  showAsk(out, ask)
  try {
    const note = (line: string): void => out.note(out.style('red', safe(line)))
    return await promptAnswer(terminal, ask, check, note, comment)
  } catch (error) {
    if (closed.signal.aborted) refuseClosed(latest)
    throw error
  } finally {
    clearInterval(timer)
  }
}

interface Checked {
  readonly issues: readonly { readonly path: string; readonly message: string }[]
}

/** @throws CommandError with status 5 that says who won */
function refuseClosed({ status, answer }: AskJson): void {
  if (status === 'open') return
  throw new CommandError({
    ...{ type: 'about:blank', title: 'ask-closed', status: 409, code: 'ask-closed' },
    detail:
      answer === undefined
        ? `The ask is closed: ${status}.`
        : `The ask was already answered by ${answer.by} at ${answer.at}.`,
    details: { status, winner: answer && { by: answer.by, at: answer.at } },
  })
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
