import type { Course } from './live-through.ts'

const manners = [
  { keeps: true, inTurn: true },
  { keeps: true, inTurn: false },
  { keeps: false, inTurn: true },
  { keeps: false, inTurn: false },
]
/** A course has some 75 stops, and half as many again if another process goes on. */
const stops = 110
const holds = [1, 3, 7, 15, 1_000]
/** How many stops the first process is frozen for; undefined: it is killed. */
const thaws = [undefined, 2, 8, 20]
const freezes = 76

/** All courses with one process or two in which one stop is held up, or two are. */
const allCourses = manners.length * freezes * thaws.length * stops * holds.length * 2
/** A prime that is no factor of their number: neighbours in the list have nothing in common. */
const stride = 7_368_787

/** Returns one of them. */
export function courseAt(index: number): Course {
  let left = (index * stride) % allCourses
  const next = (size: number): number => {
    const digit = left % size
    left = Math.floor(left / size)
    return digit
  }
  const manner = manners[next(manners.length)] as (typeof manners)[number]
  const isPair = next(2) === 1
  const at = next(stops)
  const hold = holds[next(holds.length)] as number
  const thawsAfter = thaws[next(thaws.length)]
  const freezesAt = next(freezes)
  const schedule = new Map([[at, hold]])
  if (isPair) schedule.set(at + 1 + (freezesAt % 12), hold)
  return {
    ...{ ...manner, schedule },
    // One half with a single process.
    ...(freezesAt % 2 === 0 ? {} : { freezesAt, ...(thawsAfter === undefined ? {} : { thawsAfter }) }),
  }
}
