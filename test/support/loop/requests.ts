import { type SchemaName, schemaNames } from './procedures.ts'

/** A request as large as the server reads, that costs more than others of its size. */
export interface Hostile {
  readonly name: string
  readonly method: 'GET' | 'POST'
  /** With the id of the ask of a run for `{ask:run}`. */
  readonly path: string
  readonly body?: () => string
  readonly type?: string
}

const bytes = 3 * 1024 * 1024 - 1024

/** A body with more values is refused before it is read. */
const maxValues = 49_000

/** Repeats an item until the text has as many bytes, or as many values, as a body may have. */
function fill(
  open: string,
  item: string | ((index: number) => string),
  close: string,
  most: { readonly bytes: number; readonly values: number },
): string {
  const items: string[] = []
  let length = open.length + close.length
  let values = valuesIn(open)
  for (let index = 0; ; index++) {
    const next = typeof item === 'string' ? item : item(index)
    length += Buffer.byteLength(next) + 1
    values += 1 + valuesIn(next)
    if (length > most.bytes || values > most.values) return `${open}${items.join()}${close}`
    items.push(next)
  }
}

function valuesIn(json: string): number {
  return json.replaceAll(/"[^"]*"|[^,[{]/g, '').length
}

const key = (index: number): string => index.toString(36)

/** Makes a value of JSON that is large in some way, to stand in a place of a body. */
type Large = (
  open: string,
  close: string,
  most: { readonly bytes: number; readonly values: number },
) => string

const values: { readonly [name: string]: Large } = {
  'empty objects': (open, close, most) => fill(`${open}[`, '{}', `]${close}`, most),
  'empty objects in `items`': (open, close, most) => fill(`${open}{"items":[`, '{}', `]}${close}`, most),
  'equal texts': (open, close, most) => fill(`${open}[`, '""', `]${close}`, most),
  'different numbers': (open, close, most) => fill(`${open}[`, String, `]${close}`, most),
  'tagged objects in `items`': (open, close, most) =>
    fill(`${open}{"items":[`, '{"kind":"d","id":7}', `]}${close}`, most),
  'members of one object': (open, close, most) => fill(`${open}{`, (n) => `"${key(n)}":0`, `}${close}`, most),
  'texts of one object': (open, close, most) => fill(`${open}{`, (n) => `"p${n}":""`, `}${close}`, most),
  'objects of one object': (open, close, most) =>
    fill(`${open}{`, (n) => `"${key(n)}":{}`, `}${close}`, most),
  'nested lists': (open, close, most) => {
    const depth = Math.min(most.bytes / 2 - 100, most.values - 200)
    return `${open}${'['.repeat(depth)}${']'.repeat(depth)}${close}`
  },
  '250 levels many times': (open, close, most) =>
    fill(`${open}[`, `${'['.repeat(250)}${']'.repeat(250)}`, `]${close}`, most),
  'marked values': (open, close, most) => fill(`${open}[`, '{"$pawl":"undefined"}', `]${close}`, most),
  'long integers': (open, close, most) =>
    fill(`${open}[`, `{"$pawl":"bigint","value":"${'9'.repeat(10_000)}"}`, `]${close}`, most),
  'one text': (open, close, most) => `${open}"${'ä'.repeat(most.bytes / 2 - 200)}"${close}`,
  escapes: (open, close, most) => `${open}"${'\\u202e'.repeat(most.bytes / 6 - 50)}"${close}`,
}

const post = (name: string, path: string, body: () => string, type = 'application/json'): Hostile => ({
  ...{ name, method: 'POST', path, body, type },
})

const most = { bytes, values: maxValues }
/** 2 MiB may be stored: what is larger is refused before the schema of the author sees it. */
const stored = { bytes: 2 * 1024 * 1024 - 64 * 1024, values: maxValues }

const whole = Object.entries(values).flatMap(([name, value]) => [
  post(`3 MiB in an answer: ${name}`, '/v1/asks/{ask:strict}/check', () =>
    value('{"value":', '}', { bytes, values: Number.POSITIVE_INFINITY }),
  ),
])

const answers = schemaNames.flatMap((schema: SchemaName) =>
  Object.entries(values).map(([name, value]) =>
    post(`check ${schema}: ${name}`, `/v1/asks/{ask:${schema}}/check`, () => value('{"value":', '}', most)),
  ),
)

const fitting = (
  [
    ['refined', '[', '""', ']'],
    ['objects', '[', '{}', ']'],
    ['tree', '{"name":"","children":[', '{"name":"","children":[]}', ']}'],
    ['union', '{"items":[', '{"other":true}', ']}'],
    ['anything', '[', '{}', ']'],
    ['unique', '[', (n: number) => `{"a":${n}}`, ']'],
  ] as const
).map(([schema, open, item, close]) =>
  post(`check ${schema}: what fits its JSON Schema`, `/v1/asks/{ask:${schema}}/check`, () =>
    fill(`{"value":${open}`, item, `${close}}`, stored),
  ),
)

const places: readonly (readonly [name: string, path: string, open: string, close: string])[] = [
  ['start', '/v1/runs', '{"procedure":"taking","input":', '}'],
  ['start of what no worker has', '/v1/runs', '{"procedure":"none","input":', '}'],
  ['tags', '/v1/runs', '{"procedure":"taking","tags":', '}'],
  ['body', '/v1/runs', '', ''],
  ['signal', '/v1/runs/taking/signals/batch', '{"payload":', '}'],
  ['update', '/v1/runs/taking/updates/add', '{"input":', '}'],
  ['params', '/v1/asks/{ask:approving}/check', '{"approved":true,"params":{"note":"","list":', '}}'],
  ['artifact', '/v1/asks/{ask:reviewing}/check', '{"choice":"approve","artifact":{"parts":', '}}'],
  ['fork', '/v1/runs/stepping/fork', '{"position":1,"edit":{"0":', '}}'],
  ['edits of a fork', '/v1/runs/stepping/fork', '{"position":1,"edit":', '}'],
  ['asks of a bulk', '/v1/asks/answers', '{"answer":{"approved":true},"asks":', '}'],
  [
    'answer of a bulk',
    '/v1/asks/answers',
    `{"asks":[${'"{ask:union}",'.repeat(99)}"{ask:union}"],"answer":{"value":`,
    '}}',
  ],
  ['resume', '/v1/resume', '{"checkpoint":"{ask:union}","resolution":', '}'],
  ['webhook', '/v1/hooks', '{"url":"http://127.0.0.1:9/","events":', '}'],
  ['checkpoint', '/v1/runs/stepping/checkpoints', '{"name":"a","value":', '}'],
  ['notices', '/v1/notices/read', '{"notices":', '}'],
  ['cancel', '/v1/runs/cancel', '{"runs":', '}'],
]
const others = places.flatMap(([where, path, open, close]) =>
  Object.entries(values).map(([name, value]) =>
    post(`${where}: ${name}`, path, () => value(open, close, most)),
  ),
)

const get = (name: string, path: string): Hostile => ({ name, method: 'GET', path })
const form = 'application/x-www-form-urlencoded'
const outside: readonly Hostile[] = [
  post('link: many fields', '/a', () => `token=a${'&a=b'.repeat(bytes / 4 - 10)}`, form),
  post('link: one long field', '/a', () => `token=${'%C3%A4'.repeat(bytes / 6 - 10)}`, form),
  post('login', '/login', () => fill('{"token":[', '{}', ']}', most)),
  post('import', '/v1/runs/import', () => 'ß'.repeat(bytes / 2), 'application/octet-stream'),
  post('Slack, unsigned', '/slack', () => `payload=${'%C3%A4'.repeat(bytes / 6 - 10)}`, form),
  get('asks of a risk that none has', '/v1/asks?risk=critical&limit=500'),
  get('count of asks of a risk that none has', '/v1/asks/count?risk=critical'),
  get('all asks', '/v1/asks?limit=500'),
]

export const hostileRequests: readonly Hostile[] = [...whole, ...answers, ...fitting, ...others, ...outside]
