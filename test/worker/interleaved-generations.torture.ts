import { expect, test } from 'vitest'
import { courseAt } from '../support/interleavings/courses.ts'
import { liveThrough } from '../support/interleavings/live-through.ts'

const courses = Number(process.env['COURSES'] ?? 20_000)
const first = Number(process.env['FIRST'] ?? 0)

test(`generations hear each signal and each answer once, in ${courses} orders of the calls of their workers`, async () => {
  const wrong: string[] = []
  for (let index = first; index < first + courses; index++) {
    const { problems, diary } = await liveThrough(courseAt(index))
    if (problems.length > 0) wrong.push([`course ${index}`, ...problems, ...diary].join('\n'))
  }
  expect(wrong).toEqual([])
})
