import { expectTypeOf, test } from 'vitest'
import type * as inbox from '../../packages/inbox/src/api/types.ts'
import type * as server from '../../packages/server/src/json/shapes.ts'

/** A reply as a reader sees it: what is undefined is left out, and a payload may be anything. */
type Reply<T> = unknown extends T
  ? // biome-ignore lint/suspicious/noExplicitAny: a payload fits any type of the inbox
    any
  : T extends readonly (infer Item)[]
    ? readonly Reply<Item>[]
    : T extends object
      ? { readonly [K in keyof T]: Reply<Exclude<T[K], undefined>> }
      : T

/** Names of fields that the inbox reads and the server does not have. */
type Unknown<Mine, Theirs> = Exclude<keyof Mine, keyof Theirs>

test('what the server replies is what the inbox takes it for', () => {
  expectTypeOf<Reply<server.RunJson>>().toExtend<inbox.Run>()
  expectTypeOf<Reply<server.AskBriefJson>>().toExtend<inbox.AskBrief>()
  expectTypeOf<Reply<server.AskJson>>().toExtend<inbox.Ask>()
  expectTypeOf<Reply<server.LogEntryJson>>().toExtend<inbox.LogEntry>()
  expectTypeOf<Reply<server.WorkerJson>>().toExtend<inbox.Worker>()
  expectTypeOf<Reply<server.StateJson>>().toExtend<inbox.State>()
  expectTypeOf<Reply<server.NoticeJson>>().toExtend<inbox.Notice>()
  expectTypeOf<Reply<server.CheckpointJson>>().toExtend<inbox.Checkpoint>()
  expectTypeOf<Reply<server.PreviewJson>>().toExtend<inbox.RepeatPreview>()
})

test('the inbox reads no field that the server does not have, optional ones included', () => {
  expectTypeOf<Unknown<inbox.Run, server.RunJson>>().toBeNever()
  expectTypeOf<Unknown<inbox.Stuck, NonNullable<server.RunJson['stuck']>>>().toBeNever()
  expectTypeOf<Unknown<inbox.Rollback, NonNullable<server.RunJson['rollback']>>>().toBeNever()
  expectTypeOf<Unknown<inbox.Failure, NonNullable<server.RunJson['failure']>>>().toBeNever()
  expectTypeOf<Unknown<inbox.Waiting, server.RunJson['waitingFor'][number]>>().toBeNever()
  expectTypeOf<Unknown<inbox.Ask, server.AskJson>>().toBeNever()
  expectTypeOf<Unknown<inbox.GivenAnswer, NonNullable<server.AskJson['answer']>>>().toBeNever()
  expectTypeOf<Unknown<inbox.Choice, server.AskJson['choices'][number]>>().toBeNever()
  expectTypeOf<Unknown<inbox.Decision, server.AskJson['decisions'][number]>>().toBeNever()
  expectTypeOf<Unknown<inbox.Risk, NonNullable<server.AskJson['risk']>>>().toBeNever()
  expectTypeOf<Unknown<inbox.LogEntry, server.LogEntryJson>>().toBeNever()
  expectTypeOf<Unknown<inbox.Worker, server.WorkerJson>>().toBeNever()
  expectTypeOf<Unknown<inbox.State, server.StateJson>>().toBeNever()
  expectTypeOf<Unknown<inbox.Notice, server.NoticeJson>>().toBeNever()
  expectTypeOf<Unknown<inbox.Checkpoint, server.CheckpointJson>>().toBeNever()
  expectTypeOf<Unknown<inbox.RepeatPreview, server.PreviewJson>>().toBeNever()
  expectTypeOf<Unknown<inbox.RepeatedOperation, server.PreviewJson['operations'][number]>>().toBeNever()
})
