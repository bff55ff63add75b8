import { expect, test } from 'vitest'
import { type NoteOwned, Ownership } from '../src/connection/ownership.ts'

/** A call that may give ownership, until it is told to return. */
function beginCall(ownership: Ownership, use: (noteOwned: NoteOwned) => void = () => {}) {
  let end: () => void = () => {}
  const returned = ownership.during(async (noteOwned) => {
    await new Promise<void>((resolve) => {
      end = resolve
    })
    use(noteOwned)
  })
  return {
    async end() {
      end()
      await returned
    },
  }
}

const [worker, run] = [1, 7]
const unknown = { run, epoch: 2 }

test('a run that an unfinished call may explain is no stray until it returns', async () => {
  const ownership = new Ownership()
  const claim = beginCall(ownership)
  ownership.compare(worker, [unknown])
  expect(ownership.unacknowledged(worker)).toEqual([])
  // One that began later knows nothing of it.
  const later = beginCall(ownership)
  await claim.end()
  expect(ownership.unacknowledged(worker)).toEqual([unknown])
  await later.end()
})

test('a run that a call has reported is returned by no other', async () => {
  const ownership = new Ownership()
  const claim = beginCall(ownership, (noteOwned) => noteOwned(worker, run, 2))
  ownership.compare(worker, [unknown])
  await claim.end()
  expect(ownership.owns(run)).toBe(true)
  expect(ownership.unacknowledged(worker)).toEqual([])
})

test('a run that was claimed again since it was last seen is waited for again', async () => {
  const ownership = new Ownership()
  ownership.compare(worker, [{ run, epoch: 1 }])
  const claim = beginCall(ownership)
  ownership.compare(worker, [unknown])
  expect(ownership.unacknowledged(worker)).toEqual([])
  await claim.end()
  expect(ownership.unacknowledged(worker)).toEqual([unknown])
})

test('a commit in progress keeps its run from being claimed', () => {
  const ownership = new Ownership()
  ownership.enter([run])
  ownership.enter([run])
  ownership.compare(worker, [unknown])
  expect(ownership.unacknowledged(worker)).toEqual([])
  ownership.leave([run])
  expect(ownership.busy()).toEqual([run])
  ownership.leave([run])
  expect(ownership.busy()).toEqual([])
  ownership.compare(worker, [unknown])
  expect(ownership.unacknowledged(worker)).toEqual([unknown])
})

test('a dead worker owns nothing, whatever a late reply says', async () => {
  const ownership = new Ownership()
  const claim = beginCall(ownership, (noteOwned) => noteOwned(worker, run, 2))
  ownership.forget(worker)
  await claim.end()
  expect(ownership.owns(run)).toBe(false)
})

test('a call that failed may have claimed runs that were not reported', async () => {
  const ownership = new Ownership()
  const fail = (use: (noteOwned: NoteOwned) => void): Promise<unknown> =>
    ownership
      .during(async (noteOwned) => {
        use(noteOwned)
        throw new Error('the reply is lost')
      })
      .catch(() => {})
  await fail(() => {})
  expect(ownership.isInDoubt).toBe(false)
  await fail((noteOwned) => noteOwned(worker, run, 2))
  expect(ownership.isInDoubt).toBe(true)
  expect(ownership.owns(run)).toBe(false)
  ownership.compare(worker, [unknown])
  expect(ownership.isInDoubt).toBe(false)
  expect(ownership.unacknowledged(worker)).toEqual([unknown])
})
