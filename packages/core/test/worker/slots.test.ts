import { expect, test } from 'vitest'
import { Slots, type Waiter } from '../../src/worker/slots.ts'

function makeSlots(count: number) {
  const gate = { isOpen: true }
  const slots = new Slots(count, () => gate.isOpen)
  const begun: string[] = []
  const waiters = new Map<string, Waiter>()
  const waiter = (name: string): Waiter => {
    const made = waiters.get(name) ?? { onSlot: () => void begun.push(name) }
    waiters.set(name, made)
    return made
  }
  return {
    slots,
    gate,
    begun,
    take: (...names: string[]) => names.map((name) => slots.take(waiter(name))),
    leave: (name: string) => slots.leave(waiter(name)),
  }
}

test('starts as many bodies as there are slots, the rest in the order of arrival', async () => {
  const { slots, begun, take } = makeSlots(2)
  take('a', 'b', 'c', 'd')
  expect(begun).toEqual(['a', 'b'])
  expect([slots.taken, slots.queued]).toEqual([2, 2])
  slots.release()
  expect(begun).toEqual(['a', 'b'])
  await Promise.resolve()
  expect(begun).toEqual(['a', 'b', 'c'])
  slots.release()
  slots.release()
  await Promise.resolve()
  expect(begun).toEqual(['a', 'b', 'c', 'd'])
  expect([slots.taken, slots.queued, slots.releases]).toEqual([1, 0, 3])
})

test('does not let a late body overtake waiting ones when a slot is released', async () => {
  const { slots, begun, take } = makeSlots(1)
  take('a', 'b')
  slots.release()
  take('c')
  await Promise.resolve()
  expect(begun).toEqual(['a', 'b'])
  slots.release()
  await Promise.resolve()
  expect(begun).toEqual(['a', 'b', 'c'])
})

test('skips a body that has left the queue', async () => {
  const { slots, begun, take, leave } = makeSlots(1)
  take('a', 'b', 'c')
  leave('b')
  slots.release()
  await Promise.resolve()
  expect(begun).toEqual(['a', 'c'])
})

test('starts no body while none may start, and all that may when it looks again', () => {
  const { slots, gate, begun, take } = makeSlots(2)
  gate.isOpen = false
  take('a', 'b', 'c')
  expect([begun, slots.queued]).toEqual([[], 0])
  gate.isOpen = true
  slots.look()
  expect(begun).toEqual(['a', 'b'])
})

test('starts no body once it is closed, and reports each release to callers that wait', async () => {
  const { slots, begun, take } = makeSlots(1)
  take('a', 'b')
  slots.close()
  const released = slots.released()
  slots.release()
  await released
  expect(begun).toEqual(['a'])
  expect(slots.taken).toBe(0)
})
