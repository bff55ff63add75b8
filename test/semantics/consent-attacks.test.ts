import { expect, test } from 'vitest'
import { attackConsents } from '../support/consent-attacks.ts'

test('whatever people do to runs, no act is without the consent of a person with the right', async () => {
  const tally = await attackConsents(40)
  expect(Math.min(...Object.values(tally))).toBeGreaterThan(0)
})

test('control: edits whose right is not checked lead to acts without consent', async () => {
  await expect(attackConsents(400, { editsUnchecked: true })).rejects.toThrow('Property failed')
})

test('control: retries that check nothing again act on facts of then', async () => {
  await expect(attackConsents(400, { blindRetries: true })).rejects.toThrow('Property failed')
})

test('control: people who may answer what they have started act alone', async () => {
  await expect(attackConsents(400, { selfApproval: true })).rejects.toThrow('Property failed')
})
