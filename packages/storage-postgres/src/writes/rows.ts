import {
  askStatusCode,
  type GivenAnswer,
  type KeptAsk,
  type KeptMessage,
  messageKindCode,
  type NewAsk,
  type NewRun,
  stateCode,
  type Unit,
} from '@pawl/core/storage'
import {
  bigint,
  bool,
  bytea,
  type Fields,
  int,
  RowColumns,
  same,
  smallint,
  text,
  texts,
} from './row-columns.ts'

// Where the rows that core gives are written. A new field of one has no columns yet, which is a type error here.

/** A run, in `runs`. Its first event is a row of its own, and a dead worker does not own it. */
export const runColumns: RowColumns<Omit<NewRun, InfoField | 'worker'>> = new RowColumns<
  Omit<NewRun, InfoField | 'worker'>
>({
  id: { id: text.of(same) },
  procedure: { procedure: text.of(same) },
  version: { version: int.orNull(same) },
  link: { link: bytea.of(same) },
  started: {},
})

/** A run, in `run_info`, which also has its procedure. */
export const infoColumns: RowColumns<Pick<NewRun, InfoField>> = new RowColumns<Pick<NewRun, InfoField>>({
  startedBy: { started_by: text.orNull(same) },
  tags: { tags: texts(same) },
})

type InfoField = 'startedBy' | 'tags'

/** What an ask has when it is opened, whenever that was. */
const askFields: Fields<Omit<NewAsk, 'answered' | 'replaces'>> = {
  position: { position: int.of(same) },
  urgency: { urgency: smallint.of(same) },
  dueAt: { due_at: bigint.orNull(same) },
  closesAt: { closes_at: bigint.orNull(same) },
  kind: { kind: text.of(same) },
  key: { key: text.orNull(same) },
  to: { audience: texts(same) },
  escalateTo: { escalate_to: texts(same) },
  payload: { payload: bytea.of(same) },
}

/** An ask that is opened. What it replaces is removed, and its answer has {@link answerColumns}. */
export const askColumns: RowColumns<NewAsk> = new RowColumns<NewAsk>({
  ...askFields,
  answered: {},
  replaces: {},
})

/** An answer, in the row of its ask. */
export const answerColumns: RowColumns<GivenAnswer> = new RowColumns<GivenAnswer>({
  by: { answered_by: text.of(same) },
  payload: { answer: bytea.of(same) },
})

/** An ask of a copy. */
export const keptAskColumns: RowColumns<KeptAsk> = new RowColumns<KeptAsk>({
  ...askFields,
  status: { status: smallint.of((status) => askStatusCode.numberOf[status]) },
  openedAt: { opened_at: bigint.of(same) },
  closedAt: { closed_at: bigint.orNull(same) },
  answeredBy: { answered_by: text.orNull(same) },
  answer: { answer: bytea.orNull(same) },
})

/** A message without what its run gives it. */
type LeftMessage = Omit<KeptMessage, 'n' | 'at' | 'used'>

const messageFields: Fields<LeftMessage> = {
  kind: { kind: smallint.of((kind) => messageKindCode.numberOf[kind]) },
  name: { name: text.of(same) },
  key: { key: text.orNull(same) },
  by: { sent_by: text.orNull(same) },
  payload: { payload: bytea.orNull(same) },
}

export const messageColumns: RowColumns<LeftMessage> = new RowColumns<LeftMessage>(messageFields)

/** A message of a copy. */
export const keptMessageColumns: RowColumns<KeptMessage> = new RowColumns<KeptMessage>({
  ...messageFields,
  n: { n: int.of(same) },
  at: { at: bigint.of(same) },
  used: { used: bool.of(same) },
})

/** A unit, without its events, their seals and its effects, which are rows of their own. The run comes first: it is locked. */
export const unitColumns: RowColumns<Unit> = new RowColumns<Unit>({
  run: { run: bigint.of(same) },
  epoch: { epoch: int.of(same) },
  head: { head: int.of(same) },
  events: { count: int.of((events) => events.length) },
  next: {
    state: smallint.of((next) =>
      next.do === 'end' ? stateCode.numberOf[next.state] : stateCode.numberOf.live,
    ),
    park: bool.of((next) => next.do === 'park'),
    wake_at: bigint.orNull((next) => (next.do === 'park' ? next.wakeAt : null)),
  },
  seen: { seen: int.of(same) },
  strict: { strict: bool.of(same) },
  link: { link: bytea.orNull(same) },
  seals: {},
  effects: {},
})
