import { expect, test } from 'vitest'
import { runProgram } from './run-program.ts'

test("runs a check without the author's code without slowing down promises", async () => {
  const { stdout } = await runProgram('hooked')
  const isFollowedOnceInUse = Number.parseInt(process.versions.node, 10) < 24
  expect(JSON.parse(stdout)).toEqual([false, false, isFollowedOnceInUse])
})
