import { PawlError } from '@pawl/core'
import {
  type AskOperation,
  type AskPayload,
  type AskSpec,
  cancelByNo,
  dueAt,
  refuse,
  settleByTimeout,
  showValue,
} from '@pawl/core/internal'
import type { ConsentChange, Question } from '../consent.ts'
import { accept, changesOf } from './edits.ts'
import { brief, done, type ListOutcomes, type Outcome, type Surroundings } from './outcome.ts'

export const person = 'user:explorer'

/** Lists what people can answer, and their silence. */
export const listAskOutcomes: ListOutcomes<AskOperation> = async ({ operation, issuedAt }, around) => {
  const { ask } = operation
  const answers = await listAnswers(ask, around)
  const silence = silenceOf(ask, issuedAt)
  return silence === null ? answers : [...answers, silence]
}

/** Returns the question as rules and labels name it. */
export function questionOf({ key, payload }: AskSpec): Question {
  return { key, message: payload.message }
}

/** Whether a choice counts as a yes. */
export function isYes(choice: string): boolean {
  return /^(approve|approved|yes|continue|go|ok|publish)$/.test(choice)
}

/** Returns what happens if no answer comes in time; null if the question stays open then. */
export function silenceOf(ask: AskSpec, askedAt: number): Outcome | null {
  const { due, payload } = ask
  const { silence } = payload
  if (due === null || silence.do === 'keep-waiting' || silence.do === 'escalate') return null
  const settled = settleByTimeout(payload, { ask: 'explored' })
  const cancel =
    'cancelsRun' in ask && ask.cancelsRun === true ? cancelByNo(payload, settled, null) : undefined
  const consent: ConsentChange = { says: 'yes', question: questionOf(ask), by: 'silence' }
  return {
    label: `${brief(payload.message)}: no answer`,
    ...settled,
    dueAt: dueAt(due, askedAt),
    ...(cancel === undefined ? {} : { cancel }),
    ...(silence.do === 'approve' ? { consent } : {}),
  }
}

async function listAnswers(ask: AskSpec, around: Surroundings): Promise<readonly Outcome[]> {
  switch (ask.payload.kind) {
    case 'approve':
      return listApprovals(ask, around)
    case 'input':
      return listInputs(ask, around)
    case 'review':
      return listReviews(ask, around)
    case 'select':
    case 'escalate':
    case 'decide':
      return all(
        choicesOf(ask.payload).map((choice) =>
          answer(ask, around, choice, { choice }, consentOf(ask, choice)),
        ),
      )
  }
}

async function listApprovals(ask: AskSpec, around: Surroundings): Promise<readonly Outcome[]> {
  const question = questionOf(ask)
  const yes: ConsentChange = { says: 'yes', question, by: 'person' }
  const edited = await findEdit(ask)
  return all([
    answer(ask, around, 'yes', { approved: true }, yes),
    edited === null
      ? null
      : answer(ask, around, `yes, with ${brief(edited)}`, { approved: true, params: edited }, yes),
    answer(ask, around, 'no', { approved: false }, { says: 'no', question }),
  ])
}

/** Changes every editable field to another value that the question accepts; null if none was found. */
async function findEdit(ask: AskSpec): Promise<object | null> {
  const { editable = [], params } = ask.payload
  const shown = Object(params) as Readonly<Record<string, unknown>>
  let edited = shown
  for (const name of editable) {
    for (const value of changesOf(shown[name])) {
      const tried = { ...edited, [name]: value }
      if ((await accept(ask, { approved: true, params: tried })) === null) continue
      edited = tried
      break
    }
  }
  return edited === shown ? null : edited
}

async function listInputs(ask: AskSpec, around: Surroundings): Promise<readonly Outcome[]> {
  const { key, payload } = ask
  const { inputs } = around.settings
  const given = (key === null ? undefined : inputs.get(key)) ?? inputs.get(payload.message)
  const values =
    given ?? (payload.initial === undefined && payload.optional !== true ? null : [payload.initial])
  if (values === null)
    refuse(
      'inputs of explore',
      Object.fromEntries(inputs),
      `The question ${showValue(payload.message)} has no initial value: add inputs: { ${showValue(key ?? payload.message)}: [ … ] }.`,
    )
  return all(values.map((value) => answer(ask, around, brief(value), { value }, undefined)))
}

async function listReviews(ask: AskSpec, around: Surroundings): Promise<readonly Outcome[]> {
  const { artifact, editable } = ask.payload
  const found: (Promise<Outcome> | null)[] = []
  for (const choice of choicesOf(ask.payload)) {
    const consent = consentOf(ask, choice)
    found.push(answer(ask, around, choice, { choice }, consent))
    if (editable === undefined || !isYes(choice)) continue
    for (const changed of changesOf(artifact)) {
      if ((await accept(ask, { choice, artifact: changed })) === null) continue
      found.push(
        answer(ask, around, `${choice}, with ${brief(changed)}`, { choice, artifact: changed }, consent),
      )
      break
    }
  }
  return all(found)
}

function choicesOf({ choices = [] }: AskPayload): readonly string[] {
  return choices.map(({ value }) => value)
}

function consentOf(ask: AskSpec, choice: string): ConsentChange {
  const question = questionOf(ask)
  return isYes(choice) ? { says: 'yes', question, by: 'person' } : { says: 'no', question }
}

async function answer(
  ask: AskSpec,
  { now }: Surroundings,
  says: string,
  given: object,
  consent: ConsentChange | undefined,
): Promise<Outcome> {
  const { message } = ask.payload
  const accepted = await accept(ask, given)
  if (accepted === null)
    throw new PawlError(
      'option-invalid',
      { option: 'inputs of explore', given: showValue(given) },
      { what: `The question ${showValue(message)} does not accept ${showValue(given)}.` },
    )
  const recorded = { answer: accepted.answer, changed: accepted.changed, by: person, at: now }
  const settled = done(`${brief(message)}: ${says}`, recorded)
  const cancel =
    ask.cancelsRun === true && settled.payload !== null
      ? cancelByNo(ask.payload, { failed: false, payload: settled.payload }, recorded)
      : undefined
  return {
    ...settled,
    ...(cancel === undefined ? {} : { cancel }),
    ...(consent === undefined ? {} : { consent }),
  }
}

async function all(found: readonly (Promise<Outcome> | null)[]): Promise<readonly Outcome[]> {
  return Promise.all(found.filter((one) => one !== null))
}
