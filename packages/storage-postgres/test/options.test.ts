import { PawlError } from '@pawl/core/storage'
import { postgres } from '@pawl/storage-postgres'
import pg from 'pg'
import { describe, expect, test } from 'vitest'
import { open } from './support/units.ts'

describe('options', () => {
  test('unknown options are named, and the known ones are listed', () => {
    expect(catchError(() => postgres('postgres://localhost/app', { shema: 'x' } as never))).toMatchObject({
      code: 'option-invalid',
      message:
        'There is no option shema in the options of postgres. Did you mean schema? Known options: schema, prepared, notifications.',
    })
  })

  test.each([null, 'x', []])('%j are none', (options) => {
    expect(catchError(() => postgres('postgres://localhost/app', options as never))).toMatchObject({
      code: 'option-invalid',
      message: expect.stringContaining('It must be an object'),
    })
  })

  test.each(['prepared', 'notifications'])('%s is true or false', (option) => {
    expect(catchError(() => postgres('postgres://localhost/app', { [option]: 'no' } as never))).toMatchObject(
      {
        code: 'option-invalid',
        message: expect.stringMatching(
          new RegExp(`The option ${option} of postgres cannot be .*It must be true or false`),
        ),
      },
    )
  })

  test.each([[{ connect: () => {} }], [{ connectionString: 'postgres://secret@db/x' }], [undefined]])(
    'what is no connection is named by what it has, and not by what is in it',
    (connection) => {
      const error = catchError(() => postgres(connection as never)) as Error
      expect(error.message).toContain('Pass a connection string, or { pool }')
      expect(error.message).not.toContain('secret')
    },
  )

  test.each(['orders.db', 'posgres://ana:secret@db/x', 'secret', 'file:///orders.db'])(
    'the text %j is no address of PostgreSQL',
    (connection) => {
      const error = catchError(() => postgres(connection)) as Error
      expect(error).toMatchObject({ code: 'option-invalid' })
      expect(error.message).toContain('It must begin with postgres://')
      expect(error.message).not.toContain('secret')
    },
  )

  test('a pool that reads values in binary is refused', () => {
    const options = { connectionString: 'postgres://secret@db/x', binary: true }
    const pool = new pg.Pool(options)
    expect(catchError(() => postgres({ pool }))).toMatchObject({
      code: 'option-invalid',
      message: expect.stringContaining('give it a pool without binary'),
    })
  })

  test('an address must be a text', () => {
    const address = new URL('postgres://secret@db/x')
    const error = catchError(() => postgres(address as never)) as Error
    expect(error.message).toContain('pass its href')
    expect(error.message).not.toContain('secret')
  })

  test('a store shows its kind and no more', () => {
    expect(Object.entries(postgres('postgres://secret@db/x'))).toEqual([['kind', 'postgres']])
    expect(JSON.stringify(postgres('postgres://secret@db/x'))).not.toContain('secret')
  })

  const names = [
    '',
    'a-b',
    '1a',
    'a"b',
    'a.b',
    'pg_toast',
    'PG_x',
    'x'.repeat(52),
    'naïve',
    'a b',
    'a;drop schema b',
  ]
  for (const schema of names) {
    test(`'${schema}' is refused as the name of a schema, with the remedy`, () => {
      expect(catchError(() => postgres('postgres://x', { schema }))).toMatchObject({
        code: 'option-invalid',
        details: { option: 'schema of postgres' },
        message: expect.stringContaining('letters, digits and underscores'),
      })
    })
  }

  test.each([[null], [5], [true], [['app']], [{}]])('%j is refused as the name of a schema', (schema) => {
    expect(catchError(() => postgres('postgres://x', { schema: schema as never }))).toMatchObject({
      code: 'option-invalid',
      details: { option: 'schema of postgres' },
      message: expect.stringContaining('letters, digits and underscores'),
    })
  })

  for (const pool of [undefined, null, {}, 'postgres://x', { connect: 1 }]) {
    test(`${JSON.stringify(pool)} is refused as a pool`, () => {
      expect(catchError(() => postgres({ pool }))).toMatchObject({ code: 'option-invalid' })
    })
  }

  test('an unreachable server is named with its port, without the password', async () => {
    const error = await open(postgres('postgres://me:secret@127.0.0.1:1/x')).catch((error: unknown) => error)
    expect(PawlError.is(error, 'store-unusable')).toBe(true)
    expect(error).toMatchObject({ message: expect.stringContaining('127.0.0.1:1') })
    expect(String(error)).not.toContain('secret')
  })
})

function catchError(body: () => unknown): unknown {
  try {
    return body()
  } catch (error) {
    return error
  }
}
