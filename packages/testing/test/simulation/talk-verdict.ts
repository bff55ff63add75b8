import { decodePayload } from '@pawl/core/internal'
import type { LogEvent } from '@pawl/core/storage'
import type { MessageRecord, RunRecord } from '../../src/memory/tables.ts'
import { countRetries, lifeOf, standingEvents, standingOf } from './lives.ts'
import { presentInput } from './lives-verdict.ts'
import { replyTo } from './talk.ts'
import type { World } from './world.ts'

interface Reply {
  readonly value?: unknown
  readonly failure?: object
  readonly ended?: string
  readonly unfinished?: true
}

/** Whether each update was handled and answered once, and what the run shows is what it exposed. */
export function findTalkFaults(
  world: World,
  run: RunRecord,
  output: readonly string[],
  longest: readonly string[],
): readonly string[] {
  const updates = run.messages.filter(({ kind }) => kind === 'update')
  return [
    ...updates.flatMap((update) => findUpdateFaults(world, run, update)),
    ...findReplyFaults(world, run, updates),
    ...findShownFaults(run, output, [longest, ...tracesBefore(world, run)]),
  ]
}

function findUpdateFaults(
  { programs }: World,
  run: RunRecord,
  { n, key, name, isUsed, payload }: MessageRecord,
): readonly string[] {
  const id = idOf(key)
  if (!isUsed || payload === null) return [`it has ended, and update ${id} has no reply`]
  const reply = decodePayload(payload) as Reply
  const events = standingEvents(run)
  const taken = countOf(events, 'update', n)
  // A generation gives the next one what no handler has begun.
  const isTakenTwice = standingOf(run).some((generation) => countOf(generation.events, 'update', n) > 1)
  const replied = countOf(events, 'reply', n)
  const expected = programs
    .filter((program) => program.name === run.procedure)
    .map(({ handler }) => (name === 'set' && handler !== 'none' ? replyTo(handler, id) : undefined))
  const isRight = expected.some((one) =>
    one === undefined
      ? reply.ended !== undefined
      : 'ended' in reply || (one === null ? 'failure' in reply : reply.value === one),
  )
  // A handler that was interrupted by the end.
  const isInterrupted = 'failure' in reply && taken > 0 && replied === 0
  return [
    isTakenTwice && `update ${id} was taken ${taken} times`,
    replied > 1 && `update ${id} was answered ${replied} times`,
    replied > taken && `update ${id} was answered and not taken`,
    !isRight && !isInterrupted && `update ${id} has the reply ${JSON.stringify(reply)}`,
    // A generation may have taken it whose place another one took.
    reply.value !== undefined &&
      countOf(run.events, 'update', n) === 0 &&
      `update ${id} has a value and was not taken`,
  ].filter((fault) => fault !== false)
}

function countOf(events: readonly LogEvent[], kind: 'update' | 'reply', n: number): number {
  return events.filter(
    (event) =>
      event.type === 'settled' &&
      event.kind === kind &&
      !event.failed &&
      (decodePayload(event.payload as Uint8Array) as { readonly n: number }).n === n,
  ).length
}

/** What a caller was told is what is stored. */
function findReplyFaults(
  { acknowledged }: World,
  run: RunRecord,
  updates: readonly MessageRecord[],
): readonly string[] {
  return acknowledged.replies
    .filter((one) => one.run === run.id)
    .flatMap(({ id, reply }) => {
      const found = updates.filter(({ key }) => idOf(key) === id)
      if (found.length !== 1) return [`update ${id} was answered and is there ${found.length} times`]
      const stored = decodePayload(found[0]?.payload as Uint8Array) as Reply
      // A retry finishes what had an unfinished handler.
      const isRefused = 'failure' in stored || stored.unfinished === true || countRetries(run) > 0
      // What the end of a failed generation replied, the one in its place does again: its handler may be at work when that ends.
      const isAgain = stored.unfinished === true && countRetries(run) > 0
      const isSame = reply === null ? isRefused : stored.value === reply || isAgain
      return isSame ? [] : [`update ${id} was answered ${reply}, and ${JSON.stringify(stored)} is stored`]
    })
}

/** The values rise, and the last one before the return is stored. */
function findShownFaults(
  run: RunRecord,
  output: readonly string[],
  traces: readonly (readonly string[])[],
): readonly string[] {
  const stored = run.states.get('shown')
  const shown = stored?.payload == null ? 0 : (decodePayload(stored.payload) as number)
  // What an earlier generation has exposed is gone if a generation has replaced it whose place another one took.
  const counts = countRetries(run) === 0 ? output : output.slice(presentInput(run).before.length)
  const least = run.state === 'completed' ? lastExposed(counts) : 0
  const most = Math.max(...traces.map(lastExposed))
  return shown >= least && shown <= most ? [] : [`it shows ${shown}, and exposed ${least} to ${most}`]
}

/** What earlier generations have seen that count: a handler may expose a value after its generation has said what comes next. */
function tracesBefore({ bodies }: World, run: RunRecord): readonly (readonly string[])[] {
  return standingOf(run).flatMap(({ base }) => bodies.traces.get(lifeOf(run.id, base)) ?? [])
}

function lastExposed(trace: readonly string[]): number {
  return trace.reduce((last, line) => Number(/^exposed (\d+)$/.exec(line)?.[1] ?? last), 0)
}

function idOf(key: string | null): string {
  return (key ?? '').slice('update:'.length)
}
