import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { routes } from '../../src/routes/table.ts'
import { requestOf } from '../support/server.ts'
import { type Caller, callers, matrix, outside, type Row } from './matrix.ts'
import { changedTables, makeScene, type Scene, type World } from './scene.ts'

const tokenOf: Readonly<Record<Caller, string | null>> = {
  ...{ none: null, 'bad token': 'wrong', own: 'ana', other: 'eve', watch: 'wim', operate: 'olga' },
  ...{ admin: 'root', 'foreign origin': 'root', 'foreign host': 'root' },
}
const headersOf = (caller: Caller): object => {
  if (caller === 'foreign origin') return { origin: 'https://evil.example' }
  return caller === 'foreign host' ? { host: 'evil.example' } : {}
}

let scene: Scene
/** For requests that may change nothing: they share it. */
let shared: World
beforeAll(async () => {
  scene = await makeScene()
  shared = await scene.open()
})
afterAll(async () => {
  await shared.close()
  scene.remove()
})

const keyOf = ({ method, path }: (typeof routes)[number]): string => `${method} /v1${path}`

test('the matrix has a row for every route', () => {
  expect(Object.keys(matrix).toSorted()).toEqual(routes.map(keyOf).toSorted())
})

describe.each(Object.entries({ ...matrix, ...outside }))('%s', (key, row) => {
  const [method = ''] = key.split(' ')
  const isWrite = method !== 'GET'

  test.each(callers)('replies to: %s', async (caller) => {
    const world = isWrite ? await scene.open() : shared
    const before = world.dump()
    const reply = await world.dispatch(request(method, row, caller))
    expect({ status: reply.status, faults: world.faults }).toEqual({ status: row.status[caller], faults: [] })
    expect(reply.headers.get('access-control-allow-origin')).toBeNull()
    await reply.body?.cancel()
    const mayChange = isWrite && row.status[caller] < 400
    if (!mayChange) expect(changedTables(before, world.dump())).toEqual([])
    if (isWrite) await world.close()
  })

  // A route that writes has no HEAD.
  test.each(isWrite ? [] : callers)('changes nothing on HEAD from: %s', async (caller) => {
    const before = shared.dump()
    const reply = await shared.dispatch(request('HEAD', row, caller))
    expect(reply.status).toBe(row.status[caller])
    await reply.body?.cancel()
    expect(changedTables(before, shared.dump())).toEqual([])
  })
})

test('the writes of the matrix do change the store', async () => {
  for (const [key, row] of Object.entries(matrix)) {
    if (!key.startsWith('POST') || unchanging.includes(key)) continue
    const world = await scene.open()
    const before = world.dump()
    await world.dispatch(request('POST', row, 'admin'))
    expect(changedTables(before, world.dump()), key).not.toEqual([])
    await world.close()
  }
})

/** A check stores nothing. A run that is neither stuck nor quarantined resumes by itself. */
const unchanging: readonly string[] = [
  'POST /v1/runs/{run}/retry',
  // They say what would be.
  'POST /v1/runs/{run}/retry/preview',
  'POST /v1/runs/{run}/fork/preview',
  // The run of the matrix is live, so it is not deleted.
  'DELETE /v1/runs/{run}',
  'POST /v1/runs/retry',
  // It takes no JSON.
  'POST /v1/runs/import',
  'POST /v1/asks/{ask}/check',
  // The matrix has no checkpoint.
  'POST /v1/checkpoints/cleanup',
  // The matrix has no hook.
  'POST /v1/hooks/{hook}/test',
  // A link is signed, not stored.
  'POST /v1/asks/{ask}/links',
]

test('neither lists nor counts asks and runs that the identity may not see', async () => {
  const itemsOf = async (token: string, path: string) => {
    const reply = await shared.dispatch(requestOf(token, 'GET', path))
    return ((await reply.json()) as { readonly items?: readonly unknown[] }).items?.length
  }
  expect(await itemsOf('ana', '/v1/asks')).toBe(1)
  expect(await itemsOf('eve', '/v1/asks')).toBe(0)
  expect(await itemsOf('eve', '/v1/asks?run=refund:1')).toBe(0)
  // Names that are not its own are refused.
  expect(await itemsOf('eve', '/v1/asks?to=group:support')).toBeUndefined()
  expect(await itemsOf('wim', '/v1/runs')).toBe(2)
  const countOf = async (token: string) => {
    const reply = await shared.dispatch(requestOf(token, 'GET', '/v1/asks/count'))
    return ((await reply.json()) as { readonly count: number }).count
  }
  expect([await countOf('ana'), await countOf('eve')]).toEqual([1, 0])
})

function request(method: string, { path, body }: Row, caller: Caller): Request {
  const fill = (text: string): string => text.replaceAll('{ask}', scene.ask)
  const filled = body && (JSON.parse(fill(JSON.stringify(body))) as object)
  const inPath = path.replaceAll('{ask}', encodeURIComponent(scene.ask))
  return requestOf(tokenOf[caller], method, inPath, filled, headersOf(caller))
}
