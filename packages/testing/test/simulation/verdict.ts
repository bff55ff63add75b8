import { decodePayload, defaultMaxCrashes } from '@pawl/core/internal'
import { type LogEvent, readAskSlot } from '@pawl/core/storage'
import type { MessageRecord, RunRecord } from '../../src/memory/tables.ts'
import { findFamilyFaults } from './family-verdict.ts'
import { findGateFaults } from './gate-verdict.ts'
import { countRetries, generationsOf, standingEvents, takesPlace } from './lives.ts'
import { findLifeFaults, isBeginning, presentLife } from './lives-verdict.ts'
import { hasContest } from './program.ts'
import { findRetryFaults } from './retry-verdict.ts'
import { findTalkFaults } from './talk-verdict.ts'
import { findEndFaults, findUndoFaults, isPassedOver } from './undo-verdict.ts'
import type { World } from './world.ts'

/** Everything that is not as it was promised. */
export function findFaults(world: World): readonly string[] {
  const { tables, acknowledged, bodies, lines, surprises } = world
  const runs = [...tables.runs.values()]
  return [
    ...surprises.map((what) => `a surprise: ${what}`),
    ...lines
      .filter((line) => !isHarmless(line) && !isPassedOver(world, line))
      .map((line) => `a worker said ${line}`),
    ...[...acknowledged.runs]
      .filter((id) => !tables.runs.has(id))
      .map((id) => `${id} was acknowledged and is lost`),
    ...bodies.begun
      .filter(({ isInVain }) => isInVain)
      .map((one) => `a body began though its result was known: ${JSON.stringify(one)}`),
    ...world.restless.map((name) => `all runs have ended, and ${name} is at work`),
    ...runs.flatMap((run) => findRunFaults(world, run).map((fault) => `${run.id}: ${fault}`)),
  ]
}

const harmless = [
  // Programs leave questions open.
  'was open, so no answer to it counts',
  'times in a row without a new event',
  // Some workers have not all procedures.
  'no live engine has',
  'has another owner',
  'Lease expired',
  'has ended without',
  'has continued without',
  'registered undos, which are forgotten',
  'has ended with a rejection',
  'could not hand back its runs',
  'which it never asked',
  'could not decide; the fallback is used',
  // Most workers have all procedures, and the others may be dead.
  'and no live engine has',
  // The world signals all runs, children too.
  'which procedure "child" does not declare',
  // Too late for it. Whether it was is judged by the answers that were acknowledged.
  'is invalid and was discarded',
  // Programs throw, and their undos fail. Whether a run may fail is judged by its program.
  '" failed (',
  // It did not wait for them.
  'while its handlers of updates were at work',
  // It fails more often than it is tried.
  'has a failed undo',
]
function isHarmless(line: string): boolean {
  return harmless.some((part) => line.includes(part))
}

function findRunFaults(world: World, run: RunRecord): readonly string[] {
  const reason = run.reason === null ? '' : JSON.stringify(decodePayload(run.reason))
  // Rightly: it has killed its workers, or chance has, too often while it was alone.
  if (run.mark === 'quarantined' && run.cause === 'crashes' && run.alone >= defaultMaxCrashes)
    return findLogFaults(run).filter((fault) => fault !== endsWrongly)
  if (run.state === 'live' || run.mark !== 'none')
    return [
      `it has not ended: ${run.state}, ${run.mark}${reason}, ${run.events.map(({ type, name }) => `${type} ${name}`).join(', ')}`,
    ]
  const life = presentLife(world, run)
  const { traces } = life
  const longest = traces.reduce<readonly string[]>((a, b) => (b.length > a.length ? b : a), [])
  const output =
    run.state === 'completed'
      ? (decodePayload(run.events.at(-1)?.payload as Uint8Array) as readonly string[])
      : longest
  return [
    ...findLogFaults(run),
    ...findRetryFaults(run),
    ...findMailFaults(world, run, output),
    ...findAnswerFaults(world, run, output),
    ...findFamilyFaults(world, run, output),
    ...findTalkFaults(world, run, output, longest),
    ...findGateFaults(world, run),
    ...findEndFaults(world, run),
    ...findLifeFaults(world, run),
    ...findUndoFaults(world, run, life, longest),
    ...world.results
      .filter((one) => one.run === run.id && JSON.stringify(one.result) !== JSON.stringify(output))
      .map(({ result }) => `a caller was told it has returned ${JSON.stringify(result)}`),
    ...[...traces, output]
      .filter((trace) => !isBeginning(trace, longest))
      .map(
        (trace) =>
          `two executions saw different things:\n  ${trace.join('\n  ')}\nand\n  ${longest.join('\n  ')}`,
      ),
  ]
}

const endsWrongly = 'it does not end once'

function findLogFaults(run: RunRecord): readonly string[] {
  const { events } = run
  const settled = standingEvents(run)
    .filter(({ type }) => type === 'settled')
    .map(({ position }) => position)
  return [
    events.some(({ seq }, i) => seq !== i) && 'a gap in its log',
    events.some(({ epoch }, i) => epoch < (events[i - 1]?.epoch ?? 0)) && 'epochs fall along its log',
    new Set(settled).size !== settled.length && 'two results of one operation',
    !endsOnce(run) && endsWrongly,
  ].filter((fault) => fault !== false)
}

/** Each generation ends whose place another one takes, and the last one: once, and with its last event. */
function endsOnce(run: RunRecord): boolean {
  const generations = generationsOf(run)
  return generations.every(({ events }, i) => {
    const next = generations[i + 1]
    const ends = events.filter(({ type }) => type === 'ended')
    if (next !== undefined && !takesPlace(next)) return ends.length === 0
    return ends.length === 1 && events.at(-1) === ends[0]
  })
}

/** Whether a generation has recorded the answer that is not kept. */
function isAnsweredBefore(run: RunRecord, by: string): boolean {
  const isOf = ({ type, kind, payload }: LogEvent): boolean =>
    type === 'settled' &&
    (kind === 'ail_decision' || kind?.startsWith('hitl_') === true) &&
    payload !== null &&
    (decodePayload(payload) as { readonly by?: string }).by === by
  return run.events.some(isOf) && !standingEvents(run).some(isOf)
}

/** Every acknowledged signal is there once, and those of one name were received in the order they came. */
function findMailFaults(
  { acknowledged, programs }: World,
  run: RunRecord,
  output: readonly string[],
): readonly string[] {
  // A receive that loses its race gives its signal back, also if a later one has been received beside it meanwhile.
  const races = programs.some(({ name, root }) => name === run.procedure && hasContest(root))
  const sent = run.messages.filter(({ kind }) => kind === 'signal')
  const faults: string[] = []
  for (const { id } of acknowledged.signals.filter((signal) => signal.run === run.id)) {
    const found = sent.filter(({ key }) => key?.endsWith(id)).length
    if (found !== 1) faults.push(`signal ${id} was acknowledged and is there ${found} times`)
  }
  for (const name of ['a', 'b']) {
    const own = sent.filter((message) => message.name === name).sort((x, y) => x.n - y.n)
    const firstLeft = own.findIndex(({ isUsed }) => !isUsed)
    if (!races && firstLeft >= 0 && own.slice(firstLeft).some(({ isUsed }) => isUsed))
      faults.push(`a signal "${name}" was received before an older one`)
  }
  if (countRetries(run) > 0) faults.push(...findLostSignals(run))
  // A signal that is received again after a retry comes behind the signals that were unread.
  if (!races && countRetries(run) === 0) faults.push(...findOrderFaults(output, sent))
  const received = output.flatMap((seen) => /receive \["([ab])","(\w+)"\]/.exec(seen)?.[2] ?? [])
  if (new Set(received).size !== received.length) faults.push('a signal was received twice')
  for (const id of received)
    if (!sent.some(({ key, isUsed }) => key?.endsWith(id) && isUsed))
      faults.push(`signal ${id} was received but never sent`)
  return faults
}

/** Those of one name were received in the order they were sent. */
function findOrderFaults(output: readonly string[], sent: readonly MessageRecord[]): readonly string[] {
  const numberOf = new Map(sent.map(({ key, n }) => [key?.slice('signal:'.length), n]))
  const last = new Map<string, number>()
  return output.flatMap((seen) => {
    const [, name = '', id = ''] = /receive \["([ab])","(\w+)"\]/.exec(seen) ?? []
    const n = numberOf.get(id) ?? 0
    const isEarlier = n < (last.get(name) ?? 0)
    last.set(name, n)
    return isEarlier ? [`signal ${id} was received after a later one`] : []
  })
}

/** What a generation has received whose place another one took was kept, or came again: each signal is read or unread, once. */
function findLostSignals(run: RunRecord): readonly string[] {
  // A generation that begins anew has received nothing: it waits for all of it again.
  if (generationsOf(run).some(({ why }) => why === 'again')) return []
  const read = standingEvents(run).flatMap(({ type, kind, failed, payload }) => {
    if (type !== 'settled' || kind !== 'signal' || failed) return []
    const { payload: id } = decodePayload(payload as Uint8Array) as { readonly payload?: unknown }
    return id === undefined ? [] : [id]
  })
  const unread = run.messages
    .filter(({ kind, isUsed }) => kind === 'signal' && !isUsed)
    .map(({ payload }) => decodePayload(payload as Uint8Array))
  const sent = run.messages.flatMap(({ kind, key }) =>
    kind === 'signal' && key !== null ? key.slice('signal:'.length) : [],
  )
  return sent.flatMap((id) => {
    const found = [...read, ...unread].filter((one) => one === id).length
    return found === 1 ? [] : [`after its retry, signal ${id} is there ${found} times`]
  })
}

/** An acknowledged answer is the recorded one, and its procedure has it. */
function findAnswerFaults(
  { acknowledged }: World,
  run: RunRecord,
  output: readonly string[],
): readonly string[] {
  const answers = acknowledged.answers.filter((answer) => answer.run === run.id)
  const asks = [...run.asks.values()]
  const settled = new Set(run.events.filter(({ type }) => type === 'settled').map(({ position }) => position))
  const unrecorded = asks.filter(
    ({ status, position: slot }) => status === 'answered' && !settled.has(readAskSlot(slot).position),
  )
  const left = asks.filter(({ status }) => status === 'open')
  return [
    ...unrecorded.map(({ position }) => `the answer to ask ${position} stands, and its log has it not`),
    ...left.map(({ position }) => `it has ended, and ask ${position} is open`),
    ...answers.flatMap(({ where, by }) => {
      const standing = asks.filter(({ answeredBy }) => answeredBy === by)
      // It was asked again: the place of the generation that has the answer was taken by another one.
      if (isAnsweredBefore(run, by)) return []
      const seen = output.find((line) => line.startsWith(`${where}: `) && /: (approve|input) /.test(line))
      // To a question that was never asked, or not before its instant, or not before the run was cancelled.
      const early = run.messages.some(
        ({ kind, name, at, n }) =>
          kind === 'early' &&
          name === where &&
          (run.messages.some((other) => other.kind === 'cancel' && other.n < n) ||
            !asks.some(({ key, closesAt }) => key === where && (closesAt === null || at < closesAt))),
      )
      return [
        standing.length !== 1 &&
          !(standing.length === 0 && early) &&
          `the answer by ${by} to ${where} was acknowledged and stands ${standing.length} times`,
        standing.length === 1 &&
          seen !== undefined &&
          !seen.includes(by) &&
          // Its scope was closed before that.
          !seen.endsWith('failed: cancelled') &&
          `the answer by ${by} to ${where} stands, and the procedure saw ${seen}`,
      ].filter((fault) => fault !== false)
    }),
  ]
}
