import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decode, encode } from '../../src/events/payload.ts'
import type { ForkPayload, StartedPayload } from '../../src/events/payloads.ts'
import { type ForkRequest, hashEdits, otherThanFork } from '../../src/runs/same-fork.ts'

const sha256 = (bytes: Uint8Array): Uint8Array => createHash('sha256').update(bytes).digest()

interface Call {
  readonly run: string
  readonly from: ForkRequest['from']
  readonly edits: readonly (readonly [number, unknown])[]
}

const value = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constant(undefined),
  fc.bigInt(),
  fc.date({ noInvalidDate: true }),
)
const call: fc.Arbitrary<Call> = fc.record({
  run: fc.constantFrom('r', 's'),
  from: fc.oneof(
    fc.record({ position: fc.nat(3) }),
    fc.record({ checkpoint: fc.constantFrom('aaaaaaaaaaaaaaaa', 'bbbbbbbbbbbbbbbb') }),
  ),
  edits: fc
    .uniqueArray(fc.tuple(fc.nat(4), value), { selector: ([position]) => position, maxLength: 3 })
    .map((edits) => edits.sort(([a], [b]) => a - b)),
})

const requestOf = ({ edits, ...rest }: Call): ForkRequest => ({
  ...rest,
  edits: new Map(edits.map(([position, value]) => [position, encode(value, 'edit')])),
})

/** The first event of the fork that a call has made, as it is read back. `position`: where its checkpoint is. */
function madeBy(made: Call, position = 2): StartedPayload {
  const { run, from, edits } = requestOf(made)
  const forkedFrom = {
    run,
    position: 'position' in from ? from.position : position,
    checkpoint: 'checkpoint' in from ? from.checkpoint : null,
    edits: hashEdits(sha256, edits),
  }
  return decode(encode({ forkedFrom }, 'started')) as StartedPayload
}

/** The same value, its members in another order. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed)
  if (typeof value !== 'object' || value === null || value instanceof Date) return value
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, member]) => [key, reversed(member)]),
  )
}

const shown = ({ from, edits, run }: Call): string =>
  JSON.stringify([run, from, edits.map(([position, value]) => [position, hashOf(value)])])
const hashOf = (value: unknown): string =>
  Buffer.from(hashEdits(sha256, new Map([[0, encode(value, 'edit')]]))).toString('hex')

test('the same call is recognised, in whichever order the members of its edits are', () => {
  fc.assert(
    fc.property(call, (made) => {
      const again = { ...made, edits: made.edits.map(([at, value]) => [at, reversed(value)] as const) }
      expect(otherThanFork(sha256, madeBy(made), requestOf(again))).toBeNull()
    }),
  )
})

test('any other call is refused, and what differs is named', () => {
  const near = fc
    .tuple(call, call, fc.constantFrom('run', 'from', 'edits', 'all'))
    .map(([made, other, what]) => [made, what === 'all' ? other : { ...made, [what]: other[what] }] as const)
    .filter(([made, other]) => shown(made) !== shown(other))
  fc.assert(
    fc.property(near, ([made, other]) => {
      const refusal = otherThanFork(sha256, madeBy(made), requestOf(other))
      expect(refusal).toContain(`a fork of run ${made.run} `)
      const place = 'position' in made.from ? `position ${made.from.position}` : made.from.checkpoint
      expect(refusal).toContain(place)
      const isThere = made.run === other.run && JSON.stringify(made.from) === JSON.stringify(other.from)
      expect(refusal?.endsWith('with other edits')).toBe(isThere)
    }),
  )
})

test('an edit without a value is another one than none, and than null', () => {
  const at = (edits: Call['edits']): Call => ({ run: 'r', from: { position: 3 }, edits })
  const calls = [at([]), at([[0, undefined]]), at([[0, null]]), at([[1, null]]), at([[0, {}]])]
  for (const made of calls)
    for (const asked of calls)
      expect(otherThanFork(sha256, madeBy(made), requestOf(asked)) === null).toBe(made === asked)
})

test('a run that is no fork, and a fork of an earlier version, are refused', () => {
  const asked: ForkRequest = { run: 'r', from: { position: 3 }, edits: new Map() }
  const fork = { run: 'r', position: 3 } as ForkPayload
  expect(otherThanFork(sha256, {} as StartedPayload, asked)).toBe('which is no fork')
  expect(otherThanFork(sha256, { fork } as StartedPayload, asked)).toBe(
    'as a fork of run r at position 3 by an earlier version, which did not record its edits',
  )
})
