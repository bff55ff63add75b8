import { expect, test } from 'vitest'
import { runProgram } from './run-program.ts'

test('a check that runs no code of its author slows down no promise of the process', async () => {
  const { stdout } = await runProgram('hooked')
  const isFollowedOnceInUse = Number.parseInt(process.versions.node, 10) < 24
  expect(JSON.parse(stdout)).toEqual([false, false, isFollowedOnceInUse])
})
