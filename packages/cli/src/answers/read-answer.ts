import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { AskJson } from '../door/door.ts'
import { usageError } from '../door/problem.ts'

/** The flags that say what is answered. */
export interface AnswerFlags {
  readonly approve?: boolean
  readonly reject?: boolean
  readonly choice?: string
  /** `path=value`, for `params` of an approval. */
  readonly set?: readonly string[]
  readonly value?: string
  /** JSON, or `@file`. */
  readonly artifact?: string
  readonly comment?: string
}

/** The request body of an answer. */
export type AnswerJson = { readonly [part: string]: unknown }

/** Whether any flag says what is answered. */
export function hasAnswer(flags: AnswerFlags): boolean {
  return (
    flags.approve === true ||
    flags.reject === true ||
    flags.choice !== undefined ||
    flags.value !== undefined ||
    flags.artifact !== undefined ||
    (flags.set?.length ?? 0) > 0
  )
}

/** Makes the answer that the flags name. Nothing is guessed: a flag that does not belong to the kind of ask is refused. */
export function readAnswerFlags(ask: AskJson, flags: AnswerFlags, cwd: string): AnswerJson {
  const said = flags.comment === undefined ? {} : { comment: flags.comment }
  const answer = answerOf(ask, flags, cwd)
  return { ...answer, ...said }
}

function answerOf(ask: AskJson, flags: AnswerFlags, cwd: string): AnswerJson {
  switch (ask.kind) {
    case 'approve': {
      refuseOthers(ask, flags, ['approve', 'reject', 'set'])
      if (flags.approve === true && flags.reject === true)
        throw usageError('Pass `--approve` or `--reject`, not both.')
      const edits = flags.set ?? []
      if (flags.reject === true) {
        if (edits.length > 0) throw usageError('`--set` belongs to `--approve`.')
        return { approved: false }
      }
      if (flags.approve !== true) throw usageError('Pass `--approve` or `--reject`.')
      return edits.length === 0 ? { approved: true } : { approved: true, params: applyEdits(edits) }
    }
    case 'input':
      refuseOthers(ask, flags, ['value'])
      if (flags.value === undefined) throw usageError('Pass `--value` with JSON or `@file`.')
      return { value: readJson('--value', flags.value, cwd) }
    case 'review': {
      refuseOthers(ask, flags, ['choice', 'artifact', 'approve', 'reject'])
      const choice = choiceOf(ask, flags)
      return flags.artifact === undefined
        ? { choice }
        : { choice, artifact: readJson('--artifact', flags.artifact, cwd) }
    }
    case 'select':
    case 'escalate':
    case 'decide':
      refuseOthers(ask, flags, ['choice', 'approve', 'reject'])
      return { choice: choiceOf(ask, flags) }
  }
}

/** `--approve` and `--reject` are also the names of choices. */
function choiceOf({ choices }: AskJson, { choice, approve, reject }: AnswerFlags): string {
  const named = choice ?? (approve === true ? 'approve' : reject === true ? 'reject' : undefined)
  const known = choices.map(({ value }) => value)
  if (named === undefined) throw usageError(`Pass \`--choice\` with one of: ${known.join(', ')}.`)
  if (!known.includes(named)) throw usageError(`There is no choice ${named}. There are: ${known.join(', ')}.`)
  return named
}

function refuseOthers(ask: AskJson, flags: AnswerFlags, allowed: readonly (keyof AnswerFlags)[]): void {
  for (const [flag, value] of Object.entries(flags)) {
    if (value === undefined || value === false || flag === 'comment') continue
    if (Array.isArray(value) && value.length === 0) continue
    if (!(['approve', 'reject', 'choice', 'set', 'value', 'artifact'] as readonly string[]).includes(flag))
      continue
    if (!(allowed as readonly string[]).includes(flag))
      throw usageError(
        `\`--${flag}\` does not belong to an ask of kind ${ask.kind}. Use: ${allowed.map((name) => `--${name}`).join(', ')}.`,
      )
  }
}

/** `a.b=1` becomes `{ a: { b: 1 } }`. A value is JSON, or else text. */
function applyEdits(edits: readonly string[]): object {
  const params: Record<string, unknown> = Object.create(null)
  for (const edit of edits) {
    const at = edit.indexOf('=')
    if (at < 1) throw usageError(`\`--set ${edit}\` must be path=value.`)
    const path = edit.slice(0, at).split('.')
    let target = params
    for (const key of path.slice(0, -1)) {
      target[key] ??= Object.create(null)
      target = target[key] as Record<string, unknown>
    }
    target[path.at(-1) as string] = jsonOrText(edit.slice(at + 1))
  }
  return params
}

function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** JSON given in a flag, or in a file named by `@`. */
export function readJson(flag: string, text: string, cwd: string): unknown {
  const from = text.startsWith('@') ? resolve(cwd, text.slice(1)) : undefined
  let json = text
  if (from !== undefined) {
    try {
      json = readFileSync(from, 'utf8')
    } catch (error) {
      throw usageError(`\`${flag} ${text}\` cannot be read: ${(error as Error).message}`)
    }
  }
  try {
    return JSON.parse(json)
  } catch (error) {
    throw usageError(`\`${flag}\` is not JSON: ${(error as Error).message}. Quote text as '"…"'.`)
  }
}
