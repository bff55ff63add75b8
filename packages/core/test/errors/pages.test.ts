import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { errorCodes } from '../../src/errors/catalogue.ts'
import { PawlError } from '../../src/index.ts'

const docs = new URL('../../../../docs/errors/', import.meta.url)

test('every code has a page and every page a code', () => {
  const pages = readdirSync(docs).map((file) => file.replace(/\.md$/, ''))
  expect(pages.sort()).toEqual(errorCodes)
})

test('an error leads to its page', () => {
  expect(new PawlError('engine-stopped', {}).help).toBe('https://pawl.dev/docs/errors/engine-stopped')
})
