/** Who makes a request. `own` and `other` have role `answer`; the ask is addressed to a group of `own`. */
export const callers = [
  'none',
  'bad token',
  'own',
  'other',
  'watch',
  'operate',
  'admin',
  'foreign origin',
  'foreign host',
] as const
export type Caller = (typeof callers)[number]

/** The request of a row, and the status that each caller gets. */
export interface Row {
  /** With `{ask}` for the id of the open ask. */
  readonly path: string
  readonly body?: object
  readonly status: Readonly<Record<Caller, number>>
}

const get = { 'foreign origin': 200, 'foreign host': 421, none: 401, 'bad token': 401 }
const post = { 'foreign origin': 403, 'foreign host': 421, none: 401, 'bad token': 401 }

/** All see it. */
const everyone = { ...get, own: 200, other: 200, watch: 200, operate: 200, admin: 200 }
/** All see it but people whom the ask does not concern. */
const concerned = { ...everyone, other: 404 }
/** Role `answer` may not call it. */
const readers = { ...everyone, own: 403, other: 403 }
/** Role `answer` sees no runs without `showRuns`. */
const runs = { ...everyone, own: 404, other: 404 }
const answerers = { ...post, own: 200, other: 404, watch: 403, operate: 200, admin: 200 }
const operators = { ...post, own: 403, other: 403, watch: 403, operate: 202, admin: 202 }
/** Only `admin` may call it. */
const admins = { ...operators, operate: 403 }
const all = (status: number) => ({
  ...{ 'foreign origin': status, 'foreign host': 421, none: status, 'bad token': status },
  ...{ own: status, other: status, watch: status, operate: status, admin: status },
})

const answer = { approved: true }

/** The rows of the table of routes, by method and path. A route without a row fails. */
export const matrix: Readonly<Record<string, Row>> = {
  'GET /v1/me': { path: '/v1/me', status: everyone },
  'GET /v1/openapi.json': { path: '/v1/openapi.json', status: everyone },
  'GET /v1/events': { path: '/v1/events?open=1', status: everyone },
  'GET /v1/asks': { path: '/v1/asks', status: everyone },
  'GET /v1/asks/count': { path: '/v1/asks/count', status: everyone },
  'GET /v1/asks/{ask}': { path: '/v1/asks/{ask}', status: concerned },
  'POST /v1/asks/{ask}/answer': { path: '/v1/asks/{ask}/answer', body: answer, status: answerers },
  'POST /v1/asks/{ask}/check': { path: '/v1/asks/{ask}/check', body: answer, status: answerers },
  'POST /v1/asks/{ask}/links': {
    path: '/v1/asks/{ask}/links',
    body: { as: 'user:guest' },
    status: { ...answerers, own: 403, other: 403, operate: 403 },
  },
  'POST /v1/asks/answers': {
    path: '/v1/asks/answers',
    body: { asks: ['{ask}'], answer },
    // The outcome of each ask says whether it was refused.
    status: { ...answerers, other: 200 },
  },
  'POST /v1/runs/{run}/asks/{key}/answer': {
    path: '/v1/runs/refund:1/asks/approve/answer',
    body: answer,
    status: { ...answerers, own: 202, operate: 202, admin: 202 },
  },
  'POST /v1/resume': {
    path: '/v1/resume',
    body: { checkpoint: '{ask}', resolution: { decision: 'reject' } },
    status: answerers,
  },
  'GET /v1/notices': { path: '/v1/notices', status: everyone },
  'POST /v1/notices/read': {
    path: '/v1/notices/read',
    body: { notices: ['1'] },
    status: { ...everyone, 'foreign origin': 403 },
  },
  'GET /v1/workers': { path: '/v1/workers', status: readers },
  'GET /v1/procedures': { path: '/v1/procedures', status: readers },
  'GET /v1/runs': { path: '/v1/runs', status: readers },
  'POST /v1/runs': {
    path: '/v1/runs',
    body: { procedure: 'refund', input: { amount: 1 }, id: 'refund:2' },
    status: { ...operators, operate: 201, admin: 201 },
  },
  'GET /v1/runs/{run}': { path: '/v1/runs/refund:1', status: runs },
  'GET /v1/runs/{run}/result': {
    path: '/v1/runs/refund:1/result',
    status: { ...runs, watch: 202, operate: 202, admin: 202, 'foreign origin': 202 },
  },
  'GET /v1/runs/{run}/events': { path: '/v1/runs/refund:1/events', status: runs },
  'GET /v1/runs/{run}/log': { path: '/v1/runs/refund:1/log', status: runs },
  'GET /v1/runs/{run}/state': { path: '/v1/runs/refund:1/state', status: runs },
  'GET /v1/runs/{run}/state/{name}': {
    path: '/v1/runs/refund:1/state/phase',
    // It exposes nothing.
    status: { ...runs, 'foreign origin': 202, watch: 202, operate: 202, admin: 202 },
  },
  'GET /v1/runs/{run}/checkpoints': { path: '/v1/runs/refund:1/checkpoints', status: runs },
  'POST /v1/runs/{run}/checkpoints': {
    path: '/v1/runs/refund:1/checkpoints',
    body: { state: 1 },
    status: { ...operators, operate: 201, admin: 201 },
  },
  // It has none.
  'GET /v1/runs/{run}/checkpoints/{checkpoint}': {
    path: '/v1/runs/refund:1/checkpoints/0123456789abcdef',
    status: { ...all(404), 'foreign host': 421, none: 401, 'bad token': 401 },
  },
  'GET /v1/checkpoints': { path: '/v1/checkpoints', status: readers },
  'GET /v1/checkpoints/{checkpoint}': {
    path: '/v1/checkpoints/refund:1',
    status: { ...all(404), 'foreign host': 421, none: 401, 'bad token': 401 },
  },
  'DELETE /v1/checkpoints/{checkpoint}': {
    path: '/v1/checkpoints/refund:1',
    status: { ...operators, operate: 404, admin: 404 },
  },
  'POST /v1/checkpoints/cleanup': {
    path: '/v1/checkpoints/cleanup',
    body: { onlyFinished: true },
    status: { ...admins, admin: 200 },
  },
  'POST /v1/runs/{run}/updates/{name}': {
    path: '/v1/runs/refund:1/updates/rename?wait=1ms',
    body: { input: 1 },
    // No worker executes it.
    status: operators,
  },
  'POST /v1/runs/{run}/signals/{name}': {
    path: '/v1/runs/refund:1/signals/paid',
    body: { payload: 1 },
    status: operators,
  },
  'POST /v1/runs/{run}/cancel': {
    path: '/v1/runs/refund:1/cancel',
    body: { reason: 'no longer needed' },
    status: operators,
  },
  'POST /v1/runs/cancel': {
    path: '/v1/runs/cancel',
    body: { runs: ['refund:1'] },
    status: { ...operators, operate: 200, admin: 200 },
  },
  'POST /v1/runs/retry': {
    path: '/v1/runs/retry',
    body: { runs: ['refund:1'] },
    status: { ...operators, operate: 200, admin: 200 },
  },
  'POST /v1/runs/{run}/retry': { path: '/v1/runs/refund:1/retry', body: {}, status: operators },
  // The run of the matrix is live: a retry has nothing to say.
  'POST /v1/runs/{run}/retry/preview': {
    path: '/v1/runs/refund:1/retry/preview',
    body: {},
    status: { ...operators, operate: 200, admin: 200 },
  },
  'POST /v1/runs/{run}/fork': {
    path: '/v1/runs/refund:1/fork',
    body: { position: 0, id: 'refund:3' },
    status: { ...operators, operate: 201, admin: 201 },
  },
  'POST /v1/runs/{run}/fork/preview': {
    path: '/v1/runs/refund:1/fork/preview',
    body: { position: 0 },
    status: { ...operators, operate: 200, admin: 200 },
  },
  'DELETE /v1/runs/{run}': { path: '/v1/runs/refund:1', status: { ...admins, admin: 409 } },
  'GET /v1/runs/{run}/export': {
    path: '/v1/runs/refund:1/export',
    status: { ...runs, own: 403, other: 403, watch: 403, operate: 403 },
  },
  // The body of the matrix is JSON.
  'POST /v1/runs/import': { path: '/v1/runs/import', body: {}, status: { ...admins, admin: 415 } },
  'GET /v1/hooks': { path: '/v1/hooks', status: { ...readers, watch: 403, operate: 403 } },
  'POST /v1/hooks': {
    path: '/v1/hooks',
    body: { url: 'https://hooks.example.com/' },
    status: { ...admins, admin: 201 },
  },
  'DELETE /v1/hooks/{hook}': { path: '/v1/hooks/none', status: { ...admins, admin: 404 } },
  'POST /v1/hooks/{hook}/test': {
    path: '/v1/hooks/none/test',
    body: {},
    status: { ...admins, admin: 404 },
  },
}

/** What lies outside the table. */
export const outside: Readonly<Record<string, Row>> = {
  'GET /healthz': { path: '/healthz', status: all(200) },
  'GET /metrics': { path: '/metrics', status: readers },
  'GET /readyz': { path: '/readyz', status: all(200) },
  'POST /login': {
    path: '/login',
    body: { key: 'root' },
    status: { ...all(200), 'foreign origin': 403 },
  },
  'POST /logout': { path: '/logout', body: {}, status: { ...all(204), 'foreign origin': 403 } },
}
