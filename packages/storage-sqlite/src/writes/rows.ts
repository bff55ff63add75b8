import {
  askStatusCode,
  type GivenAnswer,
  type KeptAsk,
  type KeptMessage,
  messageKindCode,
  type NewAsk,
  type NewRun,
} from '@pawl/core/storage'
import { type Fields, RowColumns, same } from './row-columns.ts'

// Where the rows that core gives are written. A new field of one has no columns yet, which is a type error here.

/** A run, in `runs`. Its first event is a row of its own, and a dead worker does not own it. */
export const runColumns: RowColumns<Omit<NewRun, InfoField>> = new RowColumns<Omit<NewRun, InfoField>>({
  id: { id: same },
  procedure: { procedure: same },
  version: { version: same },
  link: { link: same },
  started: {},
  worker: {},
})

/** A run, in `run_info`. Each tag is also a row of `run_tags`. */
export const infoColumns: RowColumns<Pick<NewRun, InfoField>> = new RowColumns<Pick<NewRun, InfoField>>({
  startedBy: { started_by: same },
  tags: { tags: (tags) => JSON.stringify(tags) },
})

type InfoField = 'startedBy' | 'tags'

/** What an ask has when it is opened, whenever that was. */
const askFields: Fields<Omit<NewAsk, 'answered' | 'replaces'>> = {
  position: { position: same },
  urgency: { urgency: same },
  dueAt: { due_at: same },
  closesAt: { closes_at: same },
  kind: { kind: same },
  key: { key: same },
  to: { audience: (to) => JSON.stringify(to) },
  escalateTo: { escalate_to: (to) => JSON.stringify(to) },
  payload: { payload: same },
}

/** An ask that is opened. What it replaces is removed, and its answer has {@link answerColumns}. */
export const askColumns: RowColumns<NewAsk> = new RowColumns<NewAsk>({
  ...askFields,
  answered: {},
  replaces: {},
})

/** An answer, in the row of its ask. */
export const answerColumns: RowColumns<GivenAnswer> = new RowColumns<GivenAnswer>({
  by: { answered_by: same },
  payload: { answer: same },
})

/** An ask of a copy. */
export const keptAskColumns: RowColumns<KeptAsk> = new RowColumns<KeptAsk>({
  ...askFields,
  status: { status: (status) => askStatusCode.numberOf[status] },
  openedAt: { opened_at: same },
  closedAt: { closed_at: same },
  answeredBy: { answered_by: same },
  answer: { answer: same },
})

/** A message without what its run gives it. */
export type LeftMessage = Omit<KeptMessage, 'n' | 'used'>

const messageFields: Fields<LeftMessage> = {
  at: { at: same },
  kind: { kind: (kind) => messageKindCode.numberOf[kind] },
  name: { name: same },
  key: { key: same },
  by: { sent_by: same },
  payload: { payload: same },
}

export const messageColumns: RowColumns<LeftMessage> = new RowColumns<LeftMessage>(messageFields)

/** A message of a copy. */
export const keptMessageColumns: RowColumns<KeptMessage> = new RowColumns<KeptMessage>({
  ...messageFields,
  n: { n: same },
  used: { used: Number },
})
