const core = 'packages/core/src/'

/** What each folder of core may import besides itself. The files beside the folders compose them, and may import all. */
const layers: Record<string, readonly string[]> = {
  base: [],
  schemas: ['base'],
  errors: ['base', 'schemas'],
  checks: ['base', 'schemas', 'errors'],
  events: ['base', 'errors'],
  kernel: ['base', 'errors', 'events'],
  ports: ['base', 'schemas', 'errors', 'events'],
  runs: ['base', 'schemas', 'errors', 'events', 'kernel', 'ports'],
  asks: ['base', 'schemas', 'errors', 'events', 'ports'],
  host: ['base', 'schemas', 'errors', 'events', 'kernel', 'ports'],
  authoring: ['base', 'schemas', 'errors', 'checks', 'events', 'kernel', 'ports'],
  worker: [
    ...['base', 'schemas', 'errors', 'checks', 'events', 'kernel', 'ports', 'runs', 'asks', 'host'],
    'authoring',
  ],
  client: [
    ...['base', 'schemas', 'errors', 'checks', 'events', 'kernel', 'ports', 'runs', 'asks', 'host'],
    'authoring',
  ],
}

/** What the sources of each package may import of the others. */
const borders: Record<string, readonly string[]> = {
  core: [],
  'storage-sqlite': ['@pawl/core/storage'],
  'storage-postgres': ['@pawl/core/storage'],
  testing: ['@pawl/core', '@pawl/core/storage', '@pawl/core/internal'],
  server: ['@pawl/core', '@pawl/core/internal', '@pawl/core/json-schema'],
  channels: ['@pawl/core', '@pawl/core/internal'],
  slack: ['@pawl/channels', '@pawl/core', '@pawl/core/internal'],
  'ai-sdk': ['@pawl/core', '@pawl/core/internal'],
  'openai-agents': ['@pawl/core', '@pawl/core/internal'],
  otel: ['@pawl/core'],
  // Of the server types alone: what it replies.
  inbox: ['@pawl/core/json-schema', '@pawl/server/internal'],
  'eslint-plugin': [],
  cli: [
    ...[
      '@pawl/core',
      '@pawl/core/internal',
      '@pawl/core/json-schema',
      '@pawl/server',
      '@pawl/storage-postgres',
      '@pawl/storage-sqlite',
      '@pawl/testing',
    ],
    ...['@pawl/storage-postgres/internal', '@pawl/storage-sqlite/internal'],
  ],
}

/** Everything that differs between two executions of the same code, and what to use in its place. */
const impure: Record<string, string> = {
  'Date.now': 'take the clock of ports/',
  'Date()': 'take the clock of ports/',
  'new Date()': 'take the clock of ports/',
  performance: 'take the clock of ports/',
  setTimeout: 'take the clock of ports/',
  setInterval: 'take the clock of ports/',
  setImmediate: 'leave turns to host/',
  'Math.random': 'take the entropy of ports/',
  crypto: 'take the entropy of ports/',
  process: 'keep to what is passed in',
  console: 'take the logger that is passed in',
  fetch: 'keep effects in steps',
}

/** What is a plug-in, and so lies in a package of its own: an engine knows only `client/plugins`. */
const pluggedIn = /(^|[/-])(channels?|(web)?hooks?|slack)(-|\/|\.ts$)/

/** Why there may be no such file; undefined when there may. */
export function explainFile(file: string): string | undefined {
  if (file.startsWith(core) && pluggedIn.test(file.slice(core.length)))
    return 'channels and webhooks are plug-ins, in packages of their own: core has client/plugins for them'
  return /\/src\/.+\/index\.ts$/.test(file)
    ? 'no index files below src/: import the file that has it'
    : undefined
}

/** Why `file` may not import `target` (a path from the root, or a package); undefined when it may. */
export function explainImport(file: string, target: string): string | undefined {
  return explainPath(file, target) ?? explainLayer(file, target) ?? explainPackage(file, target)
}

/** Why `file` may not use the global `name`; undefined when it may. */
export function explainUse(file: string, name: string): string | undefined {
  return isPure(file) ? impure[name] : undefined
}

function explainPath(file: string, target: string): string | undefined {
  const from = /^packages\/([^/]+)\//.exec(file)?.[1]
  const to = /^packages\/([^/]+)\//.exec(target)?.[1]
  if (to !== undefined && from !== to) return `use the published entry points of @pawl/${to}`
  return undefined
}

function explainLayer(file: string, target: string): string | undefined {
  if (target.startsWith('node:') && isPure(file)) return 'only host/ knows that it runs on Node'
  const from = layerOf(file)
  if (from === undefined || !target.startsWith(core)) return undefined
  const to = layerOf(target)
  const allowed = layers[from]
  if (allowed === undefined) return `${from}/ is not a layer of core; see scripts/layers/rules.ts`
  if (to === undefined) return `${from}/ is below the entry points`
  if (from === to || allowed.includes(to)) return undefined
  return `${from}/ may import ${allowed.length > 0 ? allowed.join(', ') : 'nothing'}`
}

function explainPackage(file: string, target: string): string | undefined {
  const from = /^packages\/([^/]+)\/src\//.exec(file)?.[1]
  if (from === undefined || !target.startsWith('@pawl/')) return undefined
  const allowed = borders[from] ?? []
  if (allowed.includes(target)) return undefined
  return `@pawl/${from} may import ${allowed.length > 0 ? allowed.join(', ') : 'no other package'}`
}

/** The folder of core a file lies in; undefined outside core and for the files beside the folders. */
function layerOf(file: string): string | undefined {
  if (!file.startsWith(core)) return undefined
  const [folder, ...rest] = file.slice(core.length).split('/')
  return rest.length > 0 ? folder : undefined
}

/** All of core but `host/` gets clock, chance and Node through the ports. */
function isPure(file: string): boolean {
  return file.startsWith(core) && layerOf(file) !== 'host'
}
