import { expect, test } from 'vitest'
import { courseAt } from '../support/interleavings/courses.ts'
import { liveThrough } from '../support/interleavings/live-through.ts'

test('generations hear each signal and each answer once, in whatever order the calls of their workers arrive', async () => {
  for (let index = 0; index < 16; index++) {
    const course = courseAt(index)
    const { problems, diary } = await liveThrough(course)
    expect(problems, [`course ${index}`, ...diary].join('\n')).toEqual([])
  }
})
