import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const program = fileURLToPath(new URL('./programs/decode-texts.ts', import.meta.url))
const digest = 'df7964bfef10daf7024ea1b8d97cf18d0a8a2396567ba9aa97d7b19064fcb024'

/** Native accelerators are optional and differ: without this codec around it, msgpackr's drops a byte order mark. */
async function run(env: NodeJS.ProcessEnv): Promise<{ isNative: boolean; digest: string }> {
  const args = ['--conditions=@pawl/source', '--import', 'tsx', program]
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: { ...process.env, ...env } })
  return JSON.parse(stdout)
}

test('encodes the same bytes without the native part of msgpackr', async () => {
  expect(await run({ MSGPACKR_NATIVE_ACCELERATION_DISABLED: 'true' })).toEqual({ isNative: false, digest })
})

test('encodes the same bytes with the native part of msgpackr, if it is installed', async () => {
  expect(await run({ MSGPACKR_NATIVE_ACCELERATION_DISABLED: 'false' })).toMatchObject({ digest })
})
