import { expect, test } from 'vitest'
import { courseAt } from '../support/interleavings/courses.ts'
import { liveThrough } from '../support/interleavings/live-through.ts'

/** In the last one a reply overtakes a signal. */
const courses = [...Array(12).keys(), 684]

test('generations hear each signal and each answer once, in whatever order the calls of their workers arrive', async () => {
  for (const index of courses) {
    const { problems, diary } = await liveThrough(courseAt(index))
    expect(problems, [`course ${index}`, ...diary].join('\n')).toEqual([])
  }
})
