import { test } from 'vitest'
import { attackConsents } from './support/consent-attacks.ts'

test('whatever people do to runs, no act is without the consent of a person with the right', async () => {
  await attackConsents(3_000)
})
