import { test } from 'vitest'
import { checkExports } from '../support/check-exports.ts'
import { seed } from '../support/seed.ts'
import { newPlace, storeUnderTest } from '../support/test-store.ts'

const here = newPlace[storeUnderTest]
const elsewhere = (['memory', 'sqlite'] as const).filter((name) => name !== storeUnderTest)

test(`runs of a store are the same in every store they are imported into (seed ${seed})`, async () => {
  const others = await Promise.all(elsewhere.map((name) => newPlace[name]()))
  await checkExports(await here(), [...others, await here()], 10)
})

test.each(elsewhere)(`runs of %s are the same in the store under test (seed ${seed})`, async (name) => {
  await checkExports(await newPlace[name](), [await here()], 10)
})
