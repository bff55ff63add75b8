import { type Control, controlOf, controlOfValue, propertyControl } from '@pawl/core/json-schema'
import type { Answer, Ask, Issue, Json, JsonObject } from '@pawl/server/internal'
import type { Signal } from '@preact/signals'
import { isObject } from '../api/json.ts'
import { en } from '../en.ts'
import { type Draft, draftOf } from '../form/draft.ts'
import { readDraft } from '../form/read.ts'

/** The draft of an answer to one ask. Undefined parts are untouched. */
export interface AskDraft {
  readonly comment: string
  /** Drafts by the name of the param. */
  readonly params: { readonly [name: string]: Draft }
  readonly value?: Draft
  readonly artifact?: Draft
  readonly choice?: string
}

/** The props of a part of the form of an ask. */
export interface AskPartProps {
  readonly ask: Ask
  readonly draft: AskDraft
  readonly onChange: (draft: AskDraft) => void
  readonly issues: Signal<readonly Issue[]>
  readonly isOpen: boolean
}

export const emptyDraft: AskDraft = { comment: '', params: {} }

export const paramControl = (ask: Ask, name: string): Control =>
  propertyControl(ask.schema, name) ?? controlOfValue(paramsOf(ask)[name])

export const paramsOf = (ask: Ask): JsonObject => (isObject(ask.params) ? ask.params : {})

export const artifactControl = (ask: Ask): Control => {
  const text: Control = { kind: 'text', type: 'text', isLong: true }
  if (typeof ask.artifact === 'string') return text
  return ask.schema === undefined ? controlOfValue(ask.artifact) : controlOf(ask.schema)
}

export const valueControl = (ask: Ask): Control => controlOf(ask.schema)

/** The initial draft of an input ask. */
export const firstValue = (ask: Ask): Draft => draftOf(valueControl(ask), ask.initial)

export interface Reading<T> {
  readonly value: T
  readonly issues: readonly Issue[]
}

/** Returns the params that differ from the shown ones. */
export function readEdits(ask: Ask, draft: AskDraft): Reading<JsonObject> {
  const issues: Issue[] = []
  const edits: [string, Json][] = []
  for (const name of ask.editable) {
    const own = Object.hasOwn(draft.params, name) ? draft.params[name] : undefined
    if (own === undefined) continue
    const control = paramControl(ask, name)
    const shown = paramsOf(ask)[name]
    if (isSame(own, draftOf(control, shown))) continue
    const read = readDraft(control, own, `params.${name}`, true)
    issues.push(...read.issues)
    if (read.value !== undefined && !isSame(read.value, shown)) edits.push([name, read.value])
  }
  return { value: Object.fromEntries(edits), issues }
}

/** The edited artifact; undefined if it is unchanged. */
export function readArtifact(ask: Ask, draft: AskDraft): Reading<Json | undefined> {
  if (draft.artifact === undefined) return { value: undefined, issues: [] }
  const control = artifactControl(ask)
  if (isSame(draft.artifact, draftOf(control, ask.artifact))) return { value: undefined, issues: [] }
  const read = readDraft(control, draft.artifact, 'artifact', true)
  return { value: isSame(read.value, ask.artifact) ? undefined : read.value, issues: read.issues }
}

/** The act of a person on an ask: a yes or no, a value, or a choice. */
export type Act =
  | { readonly act: 'approve' | 'reject' | 'send' }
  | { readonly act: 'choose'; readonly choice: string }

export function readAnswer(ask: Ask, draft: AskDraft, act: Act): Reading<Answer | null> {
  const { value, issues } = readParts(ask, draft, act)
  const isMissing = draft.comment.trim() === '' && needsComment(ask, decisionOf(act))
  return { value, issues: isMissing ? [...issues, { path: 'comment', message: en.commentMissing }] : issues }
}

/** Whether an answer with this decision is refused without a comment. */
function needsComment(ask: Ask, decision: string): boolean {
  return ask.decisions.some(({ value, comment }) => value === decision && comment === 'required')
}

function decisionOf(act: Act): string {
  return act.act === 'choose' ? act.choice : act.act
}

/** What the label of the comment says beside its name: for which decisions it is required. */
export function commentNote(ask: Ask): string {
  const needing = ask.decisions.filter(({ comment }) => comment === 'required')
  if (needing.length === 0) return en.optional
  return needing.length === ask.decisions.length
    ? en.required
    : en.requiredFor(needing.map(({ label }) => label))
}

function readParts(ask: Ask, draft: AskDraft, act: Act): Reading<Answer | null> {
  const comment = draft.comment.trim() === '' ? {} : { comment: draft.comment }
  if (act.act === 'reject') return { value: { approved: false, ...comment }, issues: [] }
  if (act.act === 'approve') {
    const { value: edits, issues } = readEdits(ask, draft)
    const params = Object.keys(edits).length === 0 ? {} : { params: edits }
    return { value: { approved: true, ...params, ...comment }, issues }
  }
  if (act.act === 'send') {
    const read = readDraft(valueControl(ask), draft.value ?? firstValue(ask), 'value', true)
    return { value: read.value === undefined ? null : { value: read.value, ...comment }, issues: read.issues }
  }
  if (act.act !== 'choose') return { value: null, issues: [] }
  const { value: artifact, issues } = readArtifact(ask, draft)
  const isEdited = artifact !== undefined && act.choice !== 'reject'
  return {
    value: { choice: act.choice, ...(isEdited ? { artifact } : {}), ...comment },
    issues: isEdited ? issues : [],
  }
}

export function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

/** Whether something is edited, also if it cannot be sent as it is. */
export function hasEdits(ask: Ask, draft: AskDraft): boolean {
  const [params, artifact] = [readEdits(ask, draft), readArtifact(ask, draft)]
  return (
    Object.keys(params.value).length > 0 ||
    params.issues.length > 0 ||
    artifact.value !== undefined ||
    artifact.issues.length > 0
  )
}

export function hasDraft(ask: Ask, draft: AskDraft): boolean {
  return (
    draft.comment.trim() !== '' ||
    draft.value !== undefined ||
    draft.choice !== undefined ||
    Object.keys(readEdits(ask, draft).value).length > 0 ||
    readArtifact(ask, draft).value !== undefined
  )
}
