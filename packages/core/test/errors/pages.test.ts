import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { errorCodes } from '../../src/errors/catalogue.ts'
import { PawlError } from '../../src/index.ts'

const docs = new URL('../../../../docs/errors/', import.meta.url)

test('has a page for every error code, and a code for every page', () => {
  const pages = readdirSync(docs).map((file) => file.replace(/\.md$/, ''))
  // `server` explains the codes of @pawl/server, which are not errors of core.
  expect(pages.filter((page) => page !== 'server').sort()).toEqual(errorCodes)
})

test('links an error to its page', () => {
  expect(new PawlError('engine-stopped', {}).help).toBe('https://pawl.dev/docs/errors/engine-stopped')
})
