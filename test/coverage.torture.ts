import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

test('the tests cover 90 % of the lines of the packages', async () => {
  // What this vitest sets for its own workers is not for the one that it starts.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('VITEST')))
  const coverage = spawn('npm', ['run', 'coverage', '--', '--coverage.reporter=text-summary'], {
    cwd: fileURLToPath(new URL('..', import.meta.url)),
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const written = Promise.all([text(coverage.stdout), text(coverage.stderr)])
  const [code] = await once(coverage, 'close')
  const output = (await written).join('\n')
  console.log(output)
  expect(code).toBe(0)
})
