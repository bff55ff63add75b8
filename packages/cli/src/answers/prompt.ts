import { controlOfValue, propertyControl } from '@pawl/core/json-schema'
import type { AskJson } from '../door/door.ts'
import { usageError } from '../door/problem.ts'
import { findEditor, openEditor } from './editor.ts'
import { askForValue, askWith } from './form.ts'
import type { AnswerJson } from './read-answer.ts'
import type { Terminal } from './terminal.ts'

/** An error in one part of an answer. */
export interface Issue {
  readonly path: string
  readonly message: string
}

/** Says what the store would refuse in an answer. Empty: nothing. */
export type CheckAnswer = (answer: AnswerJson) => Promise<readonly Issue[]>

/** Lets a person at the terminal pick one of the open asks. */
export function pickAsk(terminal: Terminal, asks: readonly AskJson[]): Promise<AskJson> {
  const choices = asks.map((ask) => ({
    value: ask,
    label: ask.message,
    hint: [ask.kind, ask.run, ...(ask.overdue ? ['overdue'] : [])].join(', '),
  }))
  return terminal.choose('Which ask?', choices)
}

/**
 * Asks a person at the terminal for the answer to any kind of ask, until the store would accept it.
 * @param given the comment, if a flag gave it
 */
export async function promptAnswer(
  terminal: Terminal,
  ask: AskJson,
  check: CheckAnswer,
  note: (line: string) => void,
  given: string | undefined,
): Promise<AnswerJson> {
  const decided = await decide(terminal, ask)
  const comment = await requiredComment(terminal, ask, decided, given)
  let answer: AnswerJson = decided
  for (let draft: AnswerJson = {}; ; draft = answer) {
    answer = { ...decided, ...(await fill(terminal, ask, decided, draft, note)) }
    const issues = await check({ ...answer, ...comment })
    if (issues.length === 0) break
    for (const { path, message } of issues) note(`  ${path === '' ? '' : `${path}: `}${message}`)
    // Without a part that was entered, a second round would be the same.
    if (Object.keys(answer).length === Object.keys(decided).length && ask.kind !== 'input')
      throw usageError('This answer is not accepted: see above. The ask stays open.')
  }
  if (comment !== undefined) return { ...answer, ...comment }
  const said = given ?? (await terminal.enter('Comment', { placeholder: 'none' }))
  return said === '' ? answer : { ...answer, comment: said }
}

/** The comment that the decision needs; undefined if it needs none. */
async function requiredComment(
  terminal: Terminal,
  ask: AskJson,
  { approved, choice }: AnswerJson,
  given: string | undefined,
): Promise<{ readonly comment: string } | undefined> {
  const value = approved === undefined ? (choice ?? 'send') : approved ? 'approve' : 'reject'
  const decision = ask.decisions.find((one) => one.value === value)
  if (decision?.comment !== 'required') return undefined
  if (given !== undefined && given.trim() !== '') return { comment: given }
  const check = (line: string): string | undefined => (line.trim() === '' ? 'Say why.' : undefined)
  return { comment: await terminal.enter('Comment (required)', { check }) }
}

/** Asks for the decision, which comes before any value. */
async function decide(terminal: Terminal, ask: AskJson): Promise<AnswerJson> {
  switch (ask.kind) {
    case 'approve':
      return {
        approved: await terminal.choose(ask.message, [
          { value: true, label: 'Approve' },
          { value: false, label: 'Reject' },
        ]),
      }
    case 'input':
      return {}
    case 'select':
    case 'review':
    case 'escalate':
    case 'decide':
      return {
        choice: await terminal.choose(
          ask.message,
          ask.choices.map(({ value, label, effect }) => ({ value, label, hint: effect })),
        ),
      }
  }
}

/** The parts that are entered. `draft` is what was entered before, and refused. */
async function fill(
  terminal: Terminal,
  ask: AskJson,
  decided: AnswerJson,
  draft: AnswerJson,
  note: (line: string) => void,
): Promise<AnswerJson> {
  switch (ask.kind) {
    case 'approve':
      return decided['approved'] === true ? fillParams(terminal, ask, draft) : {}
    case 'input': {
      const initial = Object.hasOwn(draft, 'value') ? draft['value'] : ask.initial
      return { value: await askForValue(terminal, ask.message, ask.schema, initial) }
    }
    case 'review':
      return fillArtifact(terminal, ask, draft, note)
    case 'select':
    case 'escalate':
    case 'decide':
      return {}
  }
}

/** Only what was changed is sent. */
async function fillParams(terminal: Terminal, ask: AskJson, draft: AnswerJson): Promise<AnswerJson> {
  const { editable } = ask
  if (editable.length === 0) return {}
  const isAgain = Object.hasOwn(draft, 'params')
  if (!isAgain && !(await terminal.agree(`Change ${editable.join(', ')}?`))) return {}
  const shown = (ask.params ?? {}) as Readonly<Record<string, unknown>>
  const before = (draft['params'] ?? {}) as Readonly<Record<string, unknown>>
  const changed: [string, unknown][] = []
  for (const name of editable) {
    const initial = Object.hasOwn(before, name) ? before[name] : shown[name]
    const control = propertyControl(ask.schema, name) ?? controlOfValue(shown[name])
    const value = await askWith(terminal, name, control, initial)
    if (JSON.stringify(value) !== JSON.stringify(shown[name])) changed.push([name, value])
  }
  return changed.length === 0 ? {} : { params: Object.fromEntries(changed) }
}

async function fillArtifact(
  terminal: Terminal,
  ask: AskJson,
  draft: AnswerJson,
  note: (line: string) => void,
): Promise<AnswerJson> {
  if ((ask.editable ?? []).length === 0) return {}
  const editor = findEditor()
  if (editor === undefined) {
    note('  The artifact can be edited: set EDITOR, or pass --artifact @file.')
    return {}
  }
  const isAgain = Object.hasOwn(draft, 'artifact')
  if (!isAgain && !(await terminal.agree('Edit the artifact?'))) return {}
  const artifact = await editArtifact(terminal, editor, isAgain ? draft['artifact'] : ask.artifact)
  return JSON.stringify(artifact) === JSON.stringify(ask.artifact) ? {} : { artifact }
}

async function editArtifact(terminal: Terminal, editor: string, artifact: unknown): Promise<unknown> {
  if (typeof artifact === 'string') {
    const edited = await editText(terminal, editor, artifact, '.md')
    // Editors end a text with a new line.
    return artifact.endsWith('\n') ? edited : edited.replace(/\r?\n$/, '')
  }
  for (let text = JSON.stringify(artifact, null, 2); ; ) {
    text = await editText(terminal, editor, text, '.json')
    try {
      return JSON.parse(text) as unknown
    } catch (error) {
      const again = await terminal.agree(`This is not JSON: ${(error as Error).message}. Edit it again?`)
      if (!again) throw usageError('The edited artifact is not JSON; nothing was answered.')
    }
  }
}

/** Returns the saved text. If the editor fails, the person decides whether to open it again. */
async function editText(
  terminal: Terminal,
  editor: string,
  text: string,
  extension: string,
): Promise<string> {
  for (;;) {
    const { status, saved } = await openEditor(editor, text, extension)
    if (status === 0) return saved
    const failed = `The editor (${editor}) ended with status ${status}`
    if (!(await terminal.agree(`${failed}. Open it again?`)))
      throw usageError(`${failed}; nothing was answered.`)
  }
}
