import { expect, test } from 'vitest'
import { DeclaredInputs } from '../../src/client/runs/declared-inputs.ts'
import type { StorePort } from '../../src/ports/store/store.ts'
import { writeInputs } from '../../src/runs/procedure-inputs.ts'

test('an input is read once, however many workers declare the same', async () => {
  const takes = { name: 'pay', version: 1, takesInput: true, schema: { type: 'object', required: ['a'] } }
  const worker = { worker: 1, name: 'w', startedAt: null, beatAt: 0, leaseMs: 1, runs: 0 }
  const row = { ...worker, procedures: [{ name: 'pay', versions: [1] }], inputs: writeInputs([takes]) }
  const workers: Pick<StorePort['workers'], 'list'> = {
    list: async () => Array.from({ length: 50 }, () => row),
  }
  let reads = 0
  const input = new Proxy(
    {},
    {
      getOwnPropertyDescriptor: () => {
        reads++
        return undefined
      },
    },
  )
  const inputs = new DeclaredInputs({ elapsed: () => 0 })
  expect(await inputs.refusalOf({ workers } as StorePort, 'pay', input)).toMatchObject({
    issues: [{ path: 'a' }],
  })
  expect(reads).toBeLessThan(5)
})
