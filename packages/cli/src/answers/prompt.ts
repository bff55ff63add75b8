import { confirm, isCancel, select, text } from '@clack/prompts'
import type { AskJson } from '../door/door.ts'
import { CommandError } from '../door/problem.ts'
import { exit } from '../exit.ts'
import { safe } from '../output/out.ts'
import { editText } from './editor.ts'
import type { AnswerJson } from './read-answer.ts'

/** Lets a person at the terminal pick one of the open asks. */
export async function pickAsk(asks: readonly AskJson[]): Promise<AskJson> {
  return given(
    await select({
      message: 'Which ask?',
      options: asks.map((ask) => ({
        value: ask,
        label: safe(ask.message),
        hint: safe(`${ask.kind}, ${ask.run}`),
      })),
    }),
  )
}

/** Asks a person at the terminal whether runs are to be cancelled. */
export async function confirmCancel(ids: readonly string[]): Promise<boolean> {
  const what = ids.length === 1 ? `run ${safe(ids[0] ?? '')}` : `${ids.length} runs`
  return (await confirm({ message: `Cancel ${what}?`, initialValue: false })) === true
}

/** Asks a person at the terminal for the answer to any kind of ask. */
export async function promptAnswer(ask: AskJson): Promise<AnswerJson> {
  switch (ask.kind) {
    case 'approve':
      return promptApproval(ask)
    case 'input':
      return { value: await promptJson(safe(ask.message), ask.initial) }
    case 'review': {
      const choice = await promptChoice(ask)
      const edit = given(
        await select({
          message: 'Edit the artifact?',
          options: [
            { value: false, label: 'Keep it as it is' },
            { value: true, label: 'Open it in the editor' },
          ],
        }),
      )
      return edit ? { choice, artifact: await editArtifact(ask.artifact) } : { choice }
    }
    case 'select':
    case 'escalate':
    case 'decide':
      return { choice: await promptChoice(ask) }
  }
}

async function promptApproval(ask: AskJson): Promise<AnswerJson> {
  const editable = ask.editable ?? []
  const what = given(
    await select({
      message: safe(ask.message),
      options: [
        { value: 'approve', label: 'Approve' },
        ...(editable.length === 0
          ? []
          : [{ value: 'edit', label: 'Approve with changes', hint: editable.join(', ') }]),
        { value: 'reject', label: 'Reject' },
      ],
    }),
  )
  const comment = given(await text({ message: 'Comment', placeholder: 'none', defaultValue: '' }))
  const said = comment === '' ? {} : { comment }
  if (what === 'reject') return { approved: false, ...said }
  if (what === 'approve') return { approved: true, ...said }
  const params: Record<string, unknown> = {}
  const shown = (ask.params ?? {}) as Readonly<Record<string, unknown>>
  for (const name of editable) params[name] = await promptJson(name, shown[name])
  return { approved: true, params, ...said }
}

async function promptChoice({ message, choices }: AskJson): Promise<string> {
  return given(
    await select({
      message: safe(message),
      options: choices.map(({ value, label, effect }) => ({
        value,
        label: safe(label),
        ...(effect === undefined ? {} : { hint: safe(effect) }),
      })),
    }),
  )
}

/** Text that is no JSON stays text, so that a name needs no quotes. */
async function promptJson(message: string, initial: unknown): Promise<unknown> {
  const start = initial === undefined ? '' : typeof initial === 'string' ? initial : JSON.stringify(initial)
  const entered = given(await text({ message, initialValue: start }))
  if (typeof initial === 'string') return entered
  try {
    return JSON.parse(entered)
  } catch {
    return entered
  }
}

async function editArtifact(artifact: unknown): Promise<unknown> {
  if (typeof artifact === 'string') return editText(artifact, '.md')
  return JSON.parse(await editText(JSON.stringify(artifact, null, 2), '.json')) as unknown
}

/** What was entered. Ctrl-C ends the command without an answer. */
function given<T>(value: T): Exclude<T, symbol> {
  if (isCancel(value))
    throw new CommandError(
      {
        type: 'about:blank',
        title: 'interrupted',
        status: 499,
        detail: 'Nothing was answered.',
        code: 'request-invalid',
      },
      exit.interrupted,
    )
  return value as Exclude<T, symbol>
}
