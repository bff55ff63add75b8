import type { Ask, Json, LogEntry } from '@pawl/server/internal'
import type { Fork } from '../../api/fork.ts'
import { isObject } from '../../api/json.ts'
import {
  type Act,
  type AskDraft,
  artifactControl,
  emptyDraft,
  paramControl,
  paramsOf,
  type Reading,
  readAnswer,
  valueControl,
} from '../../ask/draft.ts'
import { en } from '../../en.ts'
import { draftOf } from '../../form/draft.ts'
import { readDraft } from '../../form/read.ts'

// At a position of the log, a fork can run the operation again or have another result.

/** The edited part of an operation: its result, the payload of a signal, or the answer of people. */
export type Editable = 'result' | 'payload' | 'answer'

/** The draft of a fork. */
export interface ForkDraft {
  readonly position: number
  /** The id of a checkpoint, which counts instead of the position. */
  readonly checkpoint: string | null
  /** Whether the fork gets another result there. */
  readonly isEdited: boolean
  readonly edit: EditDraft
}

export interface EditDraft {
  /** Used where there is no form. */
  readonly json: string
  readonly answer: AskDraft
  /** The decision of an approval; null: not chosen yet. */
  readonly approved: boolean | null
}

export function isForkable({ status, type }: LogEntry): boolean {
  return status !== 'withdrawn' && type !== 'undo'
}

/** The editable part of an entry; null if it has no result, or one of a consent or of an execution. */
export function editableOf({ status, type, consent_to: action }: LogEntry): Editable | null {
  if (action !== undefined) return null
  if (status !== 'done' && status !== 'failed') return null
  if (type === 'step' || type === 'llm') return 'result'
  if (type === 'signal') return 'payload'
  return type.startsWith('hitl_') && type !== 'hitl_notification' ? 'answer' : null
}

/** The initial draft for an entry: the recorded result. */
export function editOf(entry: LogEntry, ask: Ask | null): EditDraft {
  const recorded = recordedOf(entry)
  return {
    json: recorded === undefined ? '' : JSON.stringify(recorded, null, 2),
    answer: ask === null ? emptyDraft : answerDraftOf(ask),
    approved: ask?.answer?.approved ?? null,
  }
}

function recordedOf(entry: LogEntry): Json | undefined {
  const { type, status, result } = entry
  if (status === 'failed') return undefined
  if (type === 'step' || !isObject(result)) return result
  if (type === 'llm') return result['output']
  if (result['timed_out'] === true) return undefined
  if (type === 'signal') return result['payload']
  const { changed: _, by: _by, via: _via, made_by: _made, acted_by: _acted, ...given } = result
  const { responded_at: _at, timed_out: _out, value, ...answer } = given
  return type === 'hitl_input' ? { ...answer, value: value ?? null } : answer
}

function answerDraftOf(ask: Ask): AskDraft {
  const { comment = '', params, value, choice, artifact } = ask.answer ?? {}
  const given = isObject(params) ? params : {}
  const edited = ask.editable.filter((name) => Object.hasOwn(given, name))
  return {
    comment,
    params: Object.fromEntries(edited.map((name) => [name, draftOf(paramControl(ask, name), given[name])])),
    ...(value === undefined ? {} : { value: draftOf(valueControl(ask), value) }),
    ...(choice === undefined ? {} : { choice }),
    ...(artifact === undefined ? {} : { artifact: draftOf(artifactControl(ask), artifact) }),
  }
}

/** Reads what a fork is asked for. The entry is the one at the position of the draft; `ask` is the ask that it answers, if there is one. */
export function readFork(draft: ForkDraft, entry: LogEntry, ask: Ask | null): Reading<Fork | null> {
  const { position, checkpoint } = draft
  if (checkpoint !== null) return { value: { checkpoint }, issues: [] }
  if (!draft.isEdited || editableOf(entry) === null) return { value: { position }, issues: [] }
  const { value, issues } =
    ask === null ? readDraft({ kind: 'json' }, draft.edit.json, 'json', true) : answerOf(ask, draft.edit)
  if (value === undefined || issues.length > 0) return { value: null, issues }
  // The result at the position is kept, with the edit, and what comes after it runs again.
  return { value: { position: position + 1, edit: { [position]: value } }, issues }
}

/** Reads an answer as it is recorded: with the whole params, and the whole artifact. */
function answerOf(ask: Ask, edit: EditDraft): Reading<Json | undefined> {
  const act = actOf(ask, edit)
  if (act === null) return { value: undefined, issues: [{ path: 'choice', message: en.issueMissing }] }
  const { value: answer, issues } = readAnswer(ask, edit.answer, act)
  if (answer === null) return { value: undefined, issues }
  const whole = {
    ...(act.act === 'approve'
      ? {
          params: {
            ...paramsOf(ask),
            ...('params' in answer && isObject(answer.params) ? answer.params : {}),
          },
        }
      : {}),
    ...(act.act === 'choose' && ask.artifact !== undefined
      ? { artifact: 'artifact' in answer && answer.artifact !== undefined ? answer.artifact : ask.artifact }
      : {}),
  }
  return { value: { ...answer, ...whole }, issues }
}

function actOf({ kind }: Ask, { approved, answer }: EditDraft): Act | null {
  if (kind === 'input') return { act: 'send' }
  if (kind === 'approve') return approved === null ? null : { act: approved ? 'approve' : 'reject' }
  return answer.choice === undefined ? null : { act: 'choose', choice: answer.choice }
}
