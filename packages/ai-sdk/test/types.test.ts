import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

test('the sources and the tests of types compile with AI SDK 6', async () => {
  const project = fileURLToPath(new URL('./tsconfig.six.json', import.meta.url))
  const compiler = fileURLToPath(import.meta.resolve('typescript/package.json'))
  const tsc = compiler.replace(/package\.json$/, 'bin/tsc')
  const failed = await promisify(execFile)(process.execPath, [tsc, '--noEmit', '-p', project]).then(
    () => '',
    ({ stdout }: { stdout: string }) => stdout,
  )
  expect(failed).toBe('')
})
